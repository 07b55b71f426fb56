"""Writes a snapshot; runs in a forked copy of the kernel, where nothing changes meanwhile and nothing can be harmed."""

import json
import os
import signal
import sys
import time

from rlm.snapshot.file import Reader, TooLarge, Unreadable, Unwritable, Writer
from rlm.snapshot.saver import Saver, Unsaved
from rlm.snapshot.watch import STOPPED, collect

MAX_REASON = 200
# so many variables that are not in a snapshot are named in it: the host takes no endless report
MAX_TOLD = 2000
# how many variables may crash or hang before the rest is given up
MAX_LOSSES = 8
# how long after its alarm a worker may live; one that blocks the alarm is killed then
ALARM_GRACE_S = 2


def write(namespace, names, carried, order, place, refused=()):
    """Saves the variables `names`, and of the old file those in `carried`, in its place; returns a report.

    `order` has `path`, `cwd` (where the kernel began) and `limits`: these have `variable` and `total` in bytes, `count` of
    variables, `seconds` and `variableSeconds`. `place` is told which variable is at work, `refused` are records of variables
    that are left out. Raises when the old file stays.
    """
    path, limits = order["path"], order["limits"]
    aside = path + ".new"
    old = open_old(path)
    writer = Writer(aside)
    try:
        count = limits["count"]
        records, unsaved = write_all_variables(writer, namespace, names[:count], limits, place)
        unsaved += refused
        beyond = "the number of variables is limited to %d" % count
        unsaved += [{"name": name, "why": beyond} for name in names[count : count + MAX_TOLD]]
        del unsaved[MAX_TOLD:]
        if old is not None:
            bound = {*names, *(each["name"] for each in refused)}
            carry(writer, old, [name for name in carried if name not in bound], limits["total"], records)
            if unsaved and not records and old.table["records"]:
                raise Unsaved("none of the variables could be saved: %s" % unsaved[0]["why"])
        table = {
            "python": list(sys.version_info[:2]),
            "began": order["cwd"],
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


def write_all_variables(writer, namespace, names, limits, place):
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
        done, how = run_worker(writer, namespace, names, index, saved, seconds, deadline, limits, place)
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
    place.leave()
    return records, unsaved


def run_worker(writer, namespace, names, start, saved, seconds, deadline, limits, place):
    """One fork that saves as much as it can; returns what it did, and how it ended if it did not reach the end."""
    read, send = os.pipe()
    pid = os.fork()
    if pid == 0:
        work(writer, namespace, names, start, saved, seconds, deadline, limits, place, send)
    os.close(send)
    text, status, fault = collect(read, pid, seconds + ALARM_GRACE_S, lambda: os.kill(pid, signal.SIGKILL))
    done = [json.loads(line) for line in text.splitlines(True) if line.endswith(b"\n")]
    if done and done[-1] == REACHED:
        return done[:-1], None
    if fault == STOPPED:
        return done, "saving it stopped the process"
    if fault or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM):
        return done, "saving it took longer than %.3g s" % seconds
    if os.WIFSIGNALED(status):
        return done, "saving it crashed (%s)" % signal.Signals(os.WTERMSIG(status)).name
    if os.WEXITSTATUS(status) == DISK:
        raise Unsaved("the disk refused it: %s" % done[-1]["problem"])
    return done, "saving it ended the process"


# how a worker says that it has reached the end, and that the file cannot be written
REACHED = {"reached": "end"}
DISK = 74


def work(writer, namespace, names, start, saved, seconds, deadline, limits, place, send):
    """The worker: never returns."""
    try:
        first = {id(namespace[name]): name for name in reversed(names)}
        saver = Saver(writer, namespace, first, saved, limits)
        own = os.getpid()
        for index, name in enumerate(names[start:], start):
            place.enter(index)
            # the default action ends this process, also while it is stuck in C code
            signal.setitimer(signal.ITIMER_REAL, max(0.001, min(seconds, deadline - time.monotonic())))
            try:
                message = {"name": name, **saver.save(name)}
            except Unsaved as reason:
                message = {"name": name, "why": str(reason)[:MAX_REASON]}
            if os.getpid() != own:
                # user code forked, and only one of the two may speak
                os._exit(0)
            os.write(send, json.dumps(message).encode() + b"\n")
        os.write(send, json.dumps(REACHED).encode() + b"\n")
        os._exit(0)
    except Unwritable as error:
        os.write(send, json.dumps({"problem": str(error)}).encode() + b"\n")
        os._exit(DISK)
    finally:
        os._exit(70)
