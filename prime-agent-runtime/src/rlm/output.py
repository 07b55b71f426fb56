"""All output of the kernel on its way to the host: cleaned, bounded, live in small pieces."""

import os
import time
from collections import deque

from rlm.clean import Cleaner
from rlm.keep import Keeper, show
from rlm.processes import own_mark

NAMES = ("stdout", "stderr")
LIVE_S = 0.05
# past this much, live output shows only the newest few lines now and then
LIVE_FULL_BYTES = 1 << 16
LIVE_SLOW_S = 0.2
LIVE_SLOW_BYTES = 1 << 13
BACKLOG = 64
# output in files, of all cells of one kernel: many floods must not fill the disk
SESSION_BYTES = 1 << 30
# small writes are taken in together
BATCH_BYTES = 1 << 15


class Live:
    """What of one stream has not been sent yet as a live piece."""

    def __init__(self):
        self.pieces = []
        self.size = 0
        # what came last when there is too much to show all of it
        self.newest = b""
        self.sent = 0
        self.ahead = 0


# Names the folder of the session; files in it outlive the kernel.
FOLDER_VARIABLE = "PRIME_AGENT_ARTIFACTS_DIR"


class Output:
    """Collects both streams. All work on its state goes through `exclusively`."""

    def __init__(self, wire, lock, interrupts, limit, spill_limit, note_folder):
        self.wire = wire
        # one that its owner can take again
        self.lock = lock
        self.inside = False
        self.interrupts = interrupts
        self.note_folder = note_folder
        self.folder = None
        # read now: cells may change the variable
        self.lasting_folder = os.environ.get(FOLDER_VARIABLE)
        self.cell = None
        # true in a child that a cell forked
        self.forked = False
        self.cleaners = {name: Cleaner() for name in NAMES}
        self.keepers = {name: Keeper(name, limit, spill_limit, self.open_spill) for name in NAMES}
        self.live = {name: Live() for name in NAMES}
        self.due = None
        # bytes in files of cells that have ended
        self.spilled = 0
        # pairs (stream, bytes) in order; appending is safe from any thread and from an interrupt
        self.queue = deque()
        self.queued = 0
        # set by the capture: mends descriptors; whether C code wrote something, how much, takes it in; wakes the thread
        self.repair_low = lambda: None
        self.has_low = lambda: False
        self.count_low = dict
        self.read_low = lambda counts: None
        self.wake = lambda: None

    def open_spill(self, name):
        if self.spilled >= SESSION_BYTES:
            raise OSError("this kernel has kept 1 GB of output in files already")
        if self.folder is None:
            self.folder = make_lasting_folder(self.lasting_folder) or self.make_temporary_folder()
        path = os.path.join(self.folder, "output-%s-%s.txt" % (os.urandom(4).hex(), name))
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), path

    def make_temporary_folder(self):
        """A folder that goes when the kernel goes."""
        # not tempfile: a signal handler may print while that module is being imported
        folder = name_folder()
        os.mkdir(folder, 0o700)
        self.note_folder(folder)
        return folder

    def exclusively(self, action):
        """Runs `action` with the state to itself: no other thread, and no interrupt that would tear it.

        A signal handler or finaliser of the user's may print in the middle of it: then nothing happens here and now,
        what it printed is in the queue.
        """
        with self.interrupts, self.lock:
            if self.inside:
                return None
            self.inside = True
            try:
                return action()
            finally:
                self.inside = False

    def write(self, name, data):
        """Adds bytes that the running code wrote."""
        if self.has_low():
            self.exclusively(self.catch_up)
        self.queue.append((name, data))
        self.queued += len(data)
        if self.queued >= BATCH_BYTES:
            self.exclusively(self.take_queued)
        elif self.due is None:
            self.due = time.monotonic() + LIVE_S
            self.wake()

    def catch_up(self):
        """Takes in all that was written, queued first: it was queued while C code had written nothing."""
        counts = self.count_low()
        self.take_queued()
        self.read_low(counts)

    def take_queued(self):
        self.queued = 0
        name, pieces = None, []
        while self.queue:
            stream, data = self.queue.popleft()
            if stream != name and pieces:
                self.add(name, b"".join(pieces))
                pieces = []
            name = stream
            pieces.append(data)
        if pieces:
            self.add(name, b"".join(pieces))

    def add(self, name, data):
        """Takes in bytes; called inside `exclusively`, as all below."""
        cleaned = self.cleaners[name].feed(data)
        if cleaned:
            self.keepers[name].add(cleaned)
        self.note_live(name, cleaned)

    def note_live(self, name, cleaned):
        live = self.live[name]
        if cleaned:
            if live.ahead:
                # the start of this line went out while it was unfinished
                cut = min(live.ahead, len(cleaned))
                cleaned, live.ahead = cleaned[cut:], live.ahead - cut
            room = max(0, LIVE_FULL_BYTES - live.sent - live.size)
            live.pieces.append(cleaned[:room])
            live.size += len(live.pieces[-1])
            if len(cleaned) > room:
                live.newest = cleaned[room:][-LIVE_SLOW_BYTES:]
        if self.due is None:
            self.due = time.monotonic() + (LIVE_S if live.sent < LIVE_FULL_BYTES else LIVE_SLOW_S)
            self.wake()

    def send_live(self):
        """Sends what is due."""
        self.due = None
        if self.wire.backlog() > BACKLOG:
            self.due = time.monotonic() + LIVE_SLOW_S
            return
        for name in NAMES:
            live = self.live[name]
            data = b"".join(live.pieces) + live.newest
            held = self.cleaners[name].held
            if len(held) > live.ahead and not any(code in held for code in (b"\r", b"\x1b", b"\x08")) and is_whole(held):
                data += held[live.ahead :]
                live.ahead = len(held)
            live.pieces = []
            live.size = 0
            live.newest = b""
            live.sent += len(data)
            if data:
                self.wire.send({"op": "chunk", "cell": self.cell, "stream": name, "text": show(data)})

    def begin(self, cell):
        """What comes from now on is live output of this cell; what came since the last one is shown with it."""
        self.repair_low()
        self.cell = cell

    def take(self):
        """Ends a cell's share: `(stdout, stderr, dropped bytes)`."""
        return self.exclusively(self.take_all)

    def take_all(self):
        self.catch_up()
        for name in NAMES:
            rest = self.cleaners[name].finish()
            if rest:
                self.keepers[name].add(rest)
                self.note_live(name, rest)
        self.send_live()
        self.due = None
        self.live = {name: Live() for name in NAMES}
        self.cell = None
        self.spilled += sum(keeper.spilled for keeper in self.keepers.values())
        stdout, dropped_out = self.keepers["stdout"].take()
        stderr, dropped_err = self.keepers["stderr"].take()
        return stdout, stderr, dropped_out + dropped_err


def name_folder():
    """Where this kernel may make a folder; the host knows the name as well, to remove what the guardian could not."""
    return os.path.join(os.environ.get("TMPDIR") or "/tmp", "prime-agent-kernel-" + own_mark())


def is_whole(data):
    """False when the bytes end inside a UTF-8 character."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0xC0:
            return back >= (2 if byte < 0xE0 else 3 if byte < 0xF0 else 4)
        if byte < 0x80:
            return True
    return True


def make_lasting_folder(path):
    """The session's folder, made if need be, for its owner only; None where there is none or it cannot be made."""
    if not path:
        return None
    try:
        for folder in (os.path.dirname(path), path):
            if not os.path.isdir(folder):
                os.mkdir(folder, 0o700)
    except OSError:
        return None
    return path
