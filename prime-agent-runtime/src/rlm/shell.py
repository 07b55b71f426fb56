"""Commands of cells: own session and process group, output read here, ended as a whole when interrupted."""

import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

from rlm.capture import make_pipe, read_some
from rlm.processes import is_group_alive

# after the command itself has ended, how long to wait for the rest of its output
GRACE_S = 0.25
# between INT, TERM and KILL
STEP_S = (1.0, 1.0, 2.0)
# the system limits one argument to 128 KiB
ARGUMENT_BYTES = 100_000
READ_BYTES = 1 << 20


class CommandFailed(subprocess.CalledProcessError):
    """A command that ended with an exit code other than 0, or was killed."""

    def __str__(self):
        return describe_end(self.returncode)


CommandFailed.__name__ = CommandFailed.__qualname__ = "CalledProcessError"
CommandFailed.__module__ = "subprocess"


def describe_end(code):
    """One sentence about an exit code as `subprocess` gives it."""
    if code < 0:
        return "The command was killed by %s (signal %d)." % (signal_name(-code), -code)
    if code > 128 and code - 128 in signal.valid_signals():
        return "The command ended with exit code %d: something in it was killed by %s." % (code, signal_name(code - 128))
    return "The command ended with exit code %d." % code


def signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return "signal"


class Shell:
    """Runs commands one after another and passes their output on while they run."""

    def __init__(self, output, capture, interrupts, note):
        self.interrupts = interrupts
        self.output = output
        self.capture = capture
        # tells the guardian about groups: note(b"+", pgid) and note(b"-", pgid)
        self.note = note
        self.programs = {}

    describe_end = staticmethod(describe_end)

    def failure(self, code, program):
        """The exception for a script that ended badly."""
        return CommandFailed(code, program)

    def find(self, name):
        """The absolute path of a shell; `bash` falls back to `sh`."""
        if name not in self.programs:
            path = shutil.which(name) or (shutil.which("sh") if name == "bash" else None)
            if path is None:
                raise FileNotFoundError("%s is not installed, so this cell cannot run" % name)
            self.programs[name] = path
        return self.programs[name]

    def run(self, script, program="bash", options=(), sinks=None, merge=False):
        """Runs `script` and returns its exit code. `sinks` (stdout, stderr callables) replace the display.

        With `merge` both streams go to the first sink, in the order in which they were written.
        """
        if sinks is None:
            sinks = (lambda data: self.output.write("stdout", data), lambda data: self.output.write("stderr", data))
            named = ("stdout", "stderr")
        else:
            named = (None, None)
        with script_words(self.find(program), options, script) as words:
            with self.interrupts:
                run = Run(words, self.note, merge)
            try:
                run.read(sinks, None)
            except KeyboardInterrupt:
                # further interrupts wait, so that the group is ended whatever comes
                with self.interrupts:
                    run.stop(sinks)
                raise
            finally:
                with self.interrupts:
                    run.release(named, self.capture)
            return run.process.returncode


class script_words:
    """The words that run a script; a long script goes through a file."""

    def __init__(self, program, options, script):
        self.words = [program, *options]
        self.script = script
        self.path = None

    def __enter__(self):
        if "\0" in self.script:
            raise ValueError("a command cannot contain a NUL character")
        data = self.script.encode("utf-8", "surrogateescape")
        if len(data) < ARGUMENT_BYTES:
            return [*self.words, "-c", data]
        fd, self.path = tempfile.mkstemp(prefix="prime-agent-cell-", suffix=".sh")
        with os.fdopen(fd, "wb") as file:
            file.write(data)
        return [*self.words, self.path]

    def __exit__(self, *_):
        if self.path:
            os.unlink(self.path)


class Run:
    """One running command."""

    def __init__(self, words, note, merge):
        self.note = note
        out_read, out_write = make_pipe()
        err_read, err_write = make_pipe()
        try:
            self.process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=out_write,
                stderr=subprocess.STDOUT if merge else err_write,
                start_new_session=True,
            )
        except BaseException:
            os.close(out_read)
            os.close(err_read)
            raise
        finally:
            os.close(out_write)
            os.close(err_write)
        self.group = self.process.pid
        note(b"+", self.group)
        self.pipes = {out_read: 0, err_read: 1}
        self.poll = select.poll()
        for fd in self.pipes:
            self.poll.register(fd, select.POLLIN)
        self.ended = None
        try:
            self.ended = os.pidfd_open(self.group)
            self.poll.register(self.ended, select.POLLIN)
        except (AttributeError, OSError):
            # an older system: the end is noticed by looking every few milliseconds
            self.ended = None

    def read(self, sinks, deadline):
        """Passes output on until the command has ended, or the deadline. True when it has ended."""
        closing = None
        while True:
            now = time.monotonic()
            if closing is None and self.process.poll() is not None:
                closing = now + GRACE_S
            if closing is not None and (not self.pipes or now >= closing):
                return True
            if deadline is not None and now >= deadline:
                return False
            until = min(at for at in (closing, deadline, now + 3600) if at is not None)
            if self.ended is None:
                until = min(until, now + 0.02)
            for fd, _ in self.poll.poll(max(0, until - now) * 1000):
                if fd == self.ended:
                    self.process.poll()
                    self.poll.unregister(fd)
                    os.close(fd)
                    self.ended = None
                    continue
                data = read_some(fd, READ_BYTES)
                if data:
                    sinks[self.pipes[fd]](data)
                elif data == b"":
                    self.poll.unregister(fd)
                    del self.pipes[fd]
                    os.close(fd)

    def stop(self, sinks):
        """Ends the whole group: INT, then TERM, then KILL; what it still says is passed on."""
        for number, step in zip((signal.SIGINT, signal.SIGTERM, signal.SIGKILL), STEP_S):
            if not is_group_alive(self.group):
                return
            self.signal_group(number)
            deadline = time.monotonic() + step
            ended = self.read(sinks, deadline)
            while ended and is_group_alive(self.group) and time.monotonic() < deadline:
                time.sleep(0.02)

    def signal_group(self, number):
        try:
            os.killpg(self.group, number)
        except (ProcessLookupError, PermissionError):
            # it ended between the look and the signal
            return

    def release(self, named, capture):
        """Hands pipes that a background job still holds to the capture, and forgets a group that is gone."""
        for fd, stream in self.pipes.items():
            if named[stream]:
                capture.adopt(fd, named[stream])
            else:
                os.close(fd)
        self.pipes = {}
        if self.ended is not None:
            os.close(self.ended)
            self.ended = None
        if self.process.poll() is not None and not is_group_alive(self.group):
            self.note(b"-", self.group)
