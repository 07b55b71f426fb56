"""Writes a snapshot; runs in a forked copy of the kernel, where nothing changes meanwhile and nothing can be harmed."""

import gc
import importlib.util
import io
import json
import math
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
import types

from rlm.snapshot.file import Reader, TooLarge, Unreadable, Unwritable, Writer
from rlm.snapshot.sources import Sources, is_definition

PROTOCOL = 5
MAX_REASON = 200
# a pickle that only names something is shorter
SHORT = 256
# how long the copy may take beside the time for the variables
END_S = 10
# descriptors that are kept free for the work itself
SPARE = 16
# how many variables may crash or hang before the rest is given up
MAX_LOSSES = 8
# meaningless in another process, although dill would save some of them
LIVE = (
    io.IOBase,
    socket.socket,
    subprocess.Popen,
    threading.Thread,
    type(threading.Lock()),
    type(threading.RLock()),
    types.GeneratorType,
    types.CoroutineType,
    types.AsyncGeneratorType,
    types.FrameType,
    types.TracebackType,
)


class Unsaved(Exception):
    """A variable cannot be saved; the text says why."""


def write(namespace, names, carried, path, limits):
    """Saves the variables `names`, and of the file at `path` those in `carried`, in its place; returns a report.

    `limits` has `variable` and `total` in bytes, `seconds` and `variableSeconds`. Raises when the old file stays.
    """
    aside = path + ".new"
    old = open_old(path)
    writer = Writer(aside)
    try:
        records, unsaved = write_all_variables(writer, namespace, names, limits)
        if old is not None:
            carry(writer, old, [name for name in carried if name not in names], limits["total"], records)
            if names and not records and old.table["records"]:
                raise Unsaved("none of the variables could be saved: %s" % unsaved[0]["why"])
        table = {
            "python": list(sys.version_info[:2]),
            "cwd": find_cwd(),
            "records": records,
            "unsaved": unsaved,
        }
        writer.finish(table)
        # what cannot be read again must not take the place of what can
        with Reader(aside) as reader:
            if reader.table != table:
                raise Unsaved("what was written reads differently")
        os.rename(aside, path)
    except BaseException:
        os.unlink(aside)
        raise
    finally:
        writer.close()
        if old is not None:
            old.close()
    sync_folder(path)
    return {"saved": [each["name"] for each in records], "unsaved": unsaved, "bytes": os.path.getsize(path)}


def open_old(path):
    try:
        return Reader(path)
    except (FileNotFoundError, Unreadable):
        # nothing there that could be lost
        return None


def find_cwd():
    try:
        return os.getcwd()
    except OSError:
        # it was removed
        return None


def sync_folder(path):
    fd = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def carry(writer, old, names, total, records):
    """Takes over what could not be restored: another interpreter may be able to."""
    for record in old.table["records"]:
        if record["name"] not in names or record["how"] == "alias":
            continue
        if "offset" in record:
            try:
                data = old.data(record)
            except Unreadable:
                # it is lost already, and the restoring kernel said so
                continue
            target = writer.begin(total - writer.end)
            try:
                target.write(data)
            except TooLarge:
                continue
            record = {**record, **writer.keep(target)}
        records.append(record)


def write_all_variables(writer, namespace, names, limits):
    """Records of what was saved, and what was not with its reason. Each variable may crash or hang its worker."""
    records = []
    unsaved = []
    deadline = time.monotonic() + limits["seconds"]
    losses = 0
    index = 0
    while index < len(names):
        left = deadline - time.monotonic()
        if left <= 0 or losses > MAX_LOSSES:
            why = "there was no time left" if left <= 0 else "others before it failed too badly"
            unsaved += [{"name": name, "why": why} for name in names[index:]]
            break
        seconds = min(left, limits["variableSeconds"])
        saved = {record["name"] for record in records}
        done, how = run_worker(writer, namespace, names, index, saved, seconds, deadline, limits)
        for message in done:
            if "why" in message:
                unsaved.append(message)
            else:
                records.append(message)
                if "offset" in message:
                    writer.end = message["offset"] + message["length"]
        index += len(done)
        if how is not None and index < len(names):
            unsaved.append({"name": names[index], "why": how})
            index += 1
            losses += 1
    return records, unsaved


def run_worker(writer, namespace, names, start, saved, seconds, deadline, limits):
    """One fork that saves as much as it can; returns what it did, and how it ended if it did not reach the end."""
    read, send = os.pipe()
    pid = os.fork()
    if pid == 0:
        work(writer, namespace, names, start, saved, seconds, deadline, limits, send)
    os.close(send)
    with open(read, "rb") as lines:
        done = [json.loads(line) for line in lines if line.endswith(b"\n")]
    _, status = os.waitpid(pid, 0)
    if done and done[-1] == REACHED:
        return done[:-1], None
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM:
        return done, "saving it took longer than %.3g s" % seconds
    if os.WIFSIGNALED(status):
        return done, "saving it crashed (%s)" % signal.Signals(os.WTERMSIG(status)).name
    if os.WEXITSTATUS(status) == DISK:
        raise Unsaved("the disk refused it: %s" % done[-1]["problem"])
    return done, "saving it ended the process"


# how a worker says that it has reached the end, and that the file cannot be written
REACHED = {"reached": "end"}
DISK = 74


def work(writer, namespace, names, start, saved, seconds, deadline, limits, send):
    """The worker: never returns."""
    try:
        first = {id(namespace[name]): name for name in reversed(names)}
        saver = Saver(writer, namespace, first, saved, limits)
        for name in names[start:]:
            # the default action ends this process, also while it is stuck in C code
            signal.setitimer(signal.ITIMER_REAL, max(0.001, min(seconds, deadline - time.monotonic())))
            try:
                message = {"name": name, **saver.save(name)}
            except Unsaved as reason:
                message = {"name": name, "why": str(reason)[:MAX_REASON]}
            os.write(send, json.dumps(message).encode() + b"\n")
        os.write(send, json.dumps(REACHED).encode() + b"\n")
        os._exit(0)
    except Unwritable as error:
        os.write(send, json.dumps({"problem": str(error)}).encode() + b"\n")
        os._exit(DISK)
    finally:
        os._exit(70)


class Saver:
    """Saves one variable after another."""

    def __init__(self, writer, namespace, first, saved, limits):
        self.writer = writer
        self.namespace = namespace
        # the first name of every object
        self.first = first
        self.limits = limits
        self.sources = None
        self.has_dill = importlib.util.find_spec("dill") is not None
        self.saved = saved

    def save(self, name):
        """The record of a variable; raises Unsaved."""
        value = self.namespace[name]
        first = self.first[id(value)]
        if first != name and first in self.saved and not isinstance(value, (type(None), bool, int, float, str, bytes)):
            return {"how": "alias", "of": first}
        record = self.describe(name, value)
        self.saved.add(name)
        return record

    def describe(self, name, value):
        if isinstance(value, types.ModuleType):
            if sys.modules.get(value.__name__) is not value:
                raise Unsaved("it is a module that cannot be imported by name")
            return {"how": "module", "module": value.__name__}
        if isinstance(value, LIVE):
            raise Unsaved("a live %s belongs to its process" % type(value).__name__)
        try:
            defined = is_definition(value)
        except Exception as error:
            raise Unsaved("it cannot be looked at: %s" % type(error).__name__) from error
        if not defined:
            return self.pickle(name, value)
        self.sources = self.sources or Sources()
        found = self.sources.find(value, name)
        if found:
            return {"how": "source", "source": found[0], "defines": found[1], "order": found[2]}
        if not self.has_dill:
            raise Unsaved("no cell defines it by itself, so its source is not known")
        return self.dill(name, value, None)

    def pickle(self, name, value):
        data = self.begin()
        try:
            pickle.Pickler(data, PROTOCOL).dump(value)
        except TooLarge:
            self.refuse()
        except Unwritable:
            raise
        except BaseException as error:
            if not self.has_dill:
                raise Unsaved("a %s cannot be saved: %s" % (type(value).__name__, error)) from error
            return self.dill(name, value, error)
        if data.length < SHORT and is_reference(value):
            raise Unsaved("a %s cannot be saved: it is known by its name only" % type(value).__name__)
        return {"how": "pickle", **self.writer.keep(data)}

    def dill(self, name, value, before):
        """What pickle cannot save, where dill can."""
        from rlm.snapshot.with_dill import make_pickler

        data = self.begin()
        try:
            make_pickler(data, LIVE).dump(value)
        except TooLarge:
            self.refuse()
        except Unwritable:
            raise
        except BaseException as error:
            raise Unsaved("a %s cannot be saved: %s" % (type(value).__name__, before or error)) from error
        return {"how": "dill", **self.writer.keep(data)}

    def begin(self):
        return self.writer.begin(min(self.limits["variable"], self.limits["total"] - self.writer.end))

    def refuse(self):
        if self.limits["total"] - self.writer.end < self.limits["variable"]:
            raise Unsaved("all together would be larger than %s" % megabytes(self.limits["total"]))
        raise Unsaved("it is larger than %s" % megabytes(self.limits["variable"]))


def is_reference(value):
    """True when pickle only notes a name in `__main__`, which means nothing in another process."""
    text = pickle.dumps(value, PROTOCOL)
    if b"__main__" not in text:
        return False
    import pickletools

    return not any(op.name in ("REDUCE", "NEWOBJ", "NEWOBJ_EX", "BUILD") for op, _, _ in pickletools.genops(text))


def megabytes(count):
    return "%.3g MB" % (count / (1 << 20))


def quieten(seconds, answers):
    """Makes the copy of the kernel harmless: no output, no signal handlers of the user's, no finalisers, no open file.

    What user code writes to a file of the kernel's would come twice, and a port would stay taken that a cell gives up.
    """
    import faulthandler
    import resource

    gc.disable()
    faulthandler.disable()
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # whatever happens it ends
    signal.alarm(math.ceil(seconds) + END_S)
    null = os.open(os.devnull, os.O_RDWR)
    # also those between: what closes a file by its number after a fork must not find one of this module's
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    top = max(map(int, os.listdir("/dev/fd"))) + SPARE
    for fd in range(top if most < 0 else min(top, most - SPARE)):
        if fd not in (null, answers):
            os.dup2(null, fd)
    sys.stdout = sys.stderr = open(null, "w")
