"""The kernel's `sys.stdin`, `sys.stdout` and `sys.stderr`."""

import builtins
import io
import os
import sys


class NoInput(EOFError):
    """There is nobody to answer."""


NoInput.__module__ = "builtins"


NO_INPUT = (
    "nobody can type here: this kernel has no keyboard. Put the value into a variable or a file, "
    "or pass it to the command as an argument."
)


class Stdin(io.TextIOBase):
    """Fails at once where a program would wait for a person."""

    encoding = "utf-8"
    errors = "strict"
    name = "<stdin>"

    def readable(self):
        return True

    def isatty(self):
        return False

    def fileno(self):
        return 0

    def read(self, _size=-1):
        raise NoInput(NO_INPUT)

    readline = readlines = __next__ = read

    def close(self):
        """Stays open: `exit()` closes it, and later cells still need the message above."""


def refuse_input(prompt=""):
    """Stands for `input()`."""
    raise NoInput(NO_INPUT if not prompt else "%s (asked: %s)" % (NO_INPUT, prompt))


class Raw(io.RawIOBase):
    """The bytes side of a stream: `sys.stdout.buffer`."""

    def __init__(self, name, fd, output):
        self.stream = name
        self.fd = fd
        self.output = output

    def writable(self):
        return True

    def fileno(self):
        return self.fd

    def isatty(self):
        return False

    def write(self, data):
        if self.output.forked:
            # a forked child has no line to the host; its descriptors are read by its parent
            return os.write(self.fd, data)
        data = bytes(data)
        self.output.write(self.stream, data)
        return len(data)

    def close(self):
        """Stays open for later cells."""


class Stdout(io.TextIOBase):
    """Text to the host, in order with what C code writes to the same descriptor."""

    encoding = "utf-8"
    errors = "backslashreplace"
    newlines = None
    line_buffering = True
    write_through = True

    def __init__(self, name, fd, output):
        self.name = "<%s>" % name
        self.mode = "w"
        self.stream = name
        self.output = output
        self.buffer = Raw(name, fd, output)

    def writable(self):
        return True

    def isatty(self):
        return False

    def fileno(self):
        return self.buffer.fd

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError("write() argument must be str, not " + type(text).__name__)
        data = text.encode("utf-8", "backslashreplace")
        if self.output.forked:
            self.buffer.write(data)
        elif data:
            self.output.write(self.stream, data)
        return len(text)

    def reconfigure(self, **_options):
        """Accepted for programs that set an encoding; the encoding stays UTF-8."""

    def close(self):
        """Stays open for later cells."""


class Streams:
    """The three streams, in place of Python's own."""

    def __init__(self, output):
        self.by_name = {
            "stdin": Stdin(),
            "stdout": Stdout("stdout", 1, output),
            "stderr": Stdout("stderr", 2, output),
        }
        self.fields = {name: dict(vars(stream)) for name, stream in self.by_name.items()}

    def install(self):
        """Puts them in place."""
        for name, stream in self.by_name.items():
            setattr(sys, name, stream)
            setattr(sys, "__%s__" % name, stream)
        builtins.input = refuse_input

    def repair(self):
        """Puts the streams back as they were; returns one sentence about those that had been replaced, or ""."""
        names = []
        for name, stream in self.by_name.items():
            if vars(stream) != self.fields[name]:
                vars(stream).clear()
                vars(stream).update(self.fields[name])
            if vars(sys).get(name) is not stream:
                setattr(sys, name, stream)
                names.append("sys." + name)
        return "[this cell replaced %s: put back for the next one]\n" % " and ".join(names) if names else ""
