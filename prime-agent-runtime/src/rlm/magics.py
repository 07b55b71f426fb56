"""The magics that work without IPython, and `get_ipython()`."""

import functools
import os
import re
import sys

from rlm import ipython

# a list of short lines takes several times the memory of its bytes
CAPTURE_BYTES = 16 << 20
CELL_MAGIC = re.compile(r"\s*%%(\w+)[ \t]*([^\n]*)(?:\n|$)")
SHELLS = ("bash", "sh")


class UsageError(Exception):
    """A magic that is not there, or was called wrongly."""


UsageError.__module__ = "builtins"


class Lines(list):
    """The output lines of `x = !cmd`; `.s` joins them by blanks, `.n` by newlines."""

    @property
    def s(self):
        return " ".join(self)

    @property
    def n(self):
        return "\n".join(self)

    l = property(list)  # noqa: E741 the name that IPython gave it
    nlstr = n
    spstr = s


def split_cell_magic(source):
    """`(name, arguments, body)` when the cell begins with `%%name`, else None."""
    match = CELL_MAGIC.match(source)
    return (match[1], match[2].strip(), source[match.end() :]) if match else None


class Shim:
    """What `get_ipython()` returns: commands and magics."""

    def __init__(self, namespace, make_shell, output, displays):
        self.displays = displays
        self.user_ns = namespace
        self.make_shell = make_shell
        self.output = output
        self.previous = None

    @functools.cached_property
    def shell(self):
        return self.make_shell()

    def system(self, command):
        """`!cmd`: shows the output; the exit code is in `_exit_code`."""
        code = self.shell.run(expand(command, caller_names()))
        self.user_ns["_exit_code"] = code
        if code:
            self.output.write("stderr", ("[%s]\n" % self.shell.describe_end(code)).encode())

    def getoutput(self, command):
        """`x = !cmd`: the lines of both streams."""
        pieces, size = [], 0

        def take(data):
            nonlocal size
            if size < CAPTURE_BYTES:
                pieces.append(data[: CAPTURE_BYTES - size])
            size += len(data)

        code = self.shell.run(expand(command, caller_names()), sinks=(take, take), merge=True)
        self.user_ns["_exit_code"] = code
        notes = []
        if size > CAPTURE_BYTES:
            notes.append("[only the first %d of %d bytes were kept]\n" % (CAPTURE_BYTES, size))
        if code:
            notes.append("[%s]\n" % self.shell.describe_end(code))
        if notes:
            self.output.write("stderr", "".join(notes).encode())
        return Lines(b"".join(pieces).decode("utf-8", "replace").replace("\r\n", "\n").rstrip("\n").splitlines() or [])

    def run_line_magic(self, name, line):
        """`%name line`."""
        method = getattr(self, "line_" + name, None)
        if method:
            return method(expand(line, caller_names()))
        return ipython.run(self, "line", name, line, None)

    def run_cell_magic(self, name, line, cell):
        """`%%name line` with the rest of the cell."""
        method = getattr(self, "cell_" + name, None)
        if method:
            return method(line, cell)
        return ipython.run(self, "cell", name, line, cell)

    def line_cd(self, line):
        """`%cd folder`: stays for later cells. `%cd -` goes back."""
        words = split(line, "%cd")
        target = words[0] if words else "~"
        if target == "-":
            if self.previous is None:
                raise UsageError("%cd -: there is no previous folder yet")
            target = self.previous
        before = os.getcwd()
        os.chdir(os.path.expanduser(os.path.expandvars(target)))
        self.previous = before
        self.output.write("stdout", (os.getcwd() + "\n").encode())

    def line_pwd(self, _line):
        """`%pwd`: the current folder."""
        return os.getcwd()

    def line_env(self, line):
        """`%env`, `%env NAME`, `%env NAME=value`, `%env NAME value`."""
        line = line.strip()
        if not line:
            return dict(os.environ)
        name, mark, value = line.partition("=")
        if not mark or " " in name.strip():
            name, mark, value = line.partition(" ")
        if not mark:
            if name not in os.environ:
                raise UsageError("%%env: there is no variable %s" % name)
            return os.environ[name]
        os.environ[name.strip()] = value.strip()
        self.output.write("stdout", ("env: %s=%s\n" % (name.strip(), value.strip())).encode())
        return None

    line_set_env = line_env

    def cell_bash(self, line, cell):
        """`%%bash`: runs the rest of the cell; an exit code other than 0 is an error."""
        self.run_shell("bash", line, cell)

    def cell_sh(self, line, cell):
        """`%%sh`: the same with `sh`."""
        self.run_shell("sh", line, cell)

    def run_shell(self, program, line, cell):
        words = split(line, "%%" + program)
        options, names, strict = [], {}, True
        while words:
            word = words.pop(0)
            if word in ("--out", "--err") and words:
                names[word] = words.pop(0)
            elif word == "--no-raise-error":
                strict = False
            elif word in ("--bg", "--proc", "--out", "--err"):
                raise UsageError("%%%%%s %s is not there: use `command &` for a background job" % (program, word))
            else:
                options.append(word)
        taken = {"--out": [], "--err": []}
        sinks = None
        if names:
            sinks = tuple(
                taken[option].append if option in names else (lambda data, stream=stream: self.output.write(stream, data))
                for option, stream in (("--out", "stdout"), ("--err", "stderr"))
            )
        code = self.shell.run(cell, program, options, sinks)
        for option, name in names.items():
            self.user_ns[name] = b"".join(taken[option]).decode("utf-8", "replace")
        self.user_ns["_exit_code"] = code
        if code and strict:
            raise self.shell.failure(code, program)

    def cell_writefile(self, line, cell):
        """`%%writefile [-a] path`: writes the rest of the cell."""
        words = split(line, "%%writefile")
        append = bool(words) and words[0] in ("-a", "--append")
        if append:
            words.pop(0)
        if len(words) != 1:
            raise UsageError("%%writefile [-a] path: give one path (quote it when it has blanks)")
        path = os.path.expanduser(words[0])
        verb = "Appending to" if append else "Overwriting" if os.path.exists(path) else "Writing"
        text = cell if not cell or cell.endswith("\n") else cell + "\n"
        with open(path, "a" if append else "w", encoding="utf-8", newline="", errors="surrogatepass") as file:
            file.write(text)
        self.output.write("stdout", ("%s %s\n" % (verb, words[0])).encode())


def expand(text, names):
    # imported late: only commands need it
    from rlm import expand

    return expand.expand(text, names)


def split(line, magic):
    import shlex

    try:
        return shlex.split(line)
    except ValueError as error:
        raise UsageError("%s: %s" % (magic, error)) from None


def caller_names():
    """The variables that the code around the command sees."""
    frame = sys._getframe(2)
    names = dict(frame.f_globals)
    names.update(frame.f_locals)
    return names
