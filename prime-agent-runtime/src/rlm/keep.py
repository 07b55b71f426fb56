"""Keeps the head and the tail of one stream in memory and the whole, up to a cap, in a file."""

import os
import re
from collections import deque

from rlm.clean import clean

# C0 and C1 but tab, line feed, carriage return and the line end of EBCDIC: a terminal would obey them
PRINTABLE = {code: "\ufffd" for code in (*range(9), 11, 12, *range(14, 32), *range(127, 133), *range(134, 160))}

UNSAFE = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]|\r(?!\n)")


class Keeper:
    """Output of one stream during one cell. `open_spill(name)` opens the file once memory no longer holds everything."""

    def __init__(self, name, limit, spill_limit, open_spill):
        self.name = name
        self.half = limit // 2
        self.spill_limit = spill_limit
        self.open_spill = open_spill
        self.reset()

    def reset(self):
        self.head = bytearray()
        self.tail = deque()
        self.tail_bytes = 0
        self.total = 0
        self.spill = None
        self.spill_path = None
        self.spilled = 0
        self.problem = None

    def add(self, data):
        """Takes in cleaned bytes."""
        self.total += len(data)
        room = self.half - len(self.head)
        if room > 0:
            self.head += data[:room]
            data = data[room:]
        if not data:
            return
        if self.spill is not None:
            self.write_spill(data)
        elif self.tail_bytes + len(data) > self.half and self.problem is None:
            self.start_spill(data)
        self.tail.append(data[-self.half :] if len(data) > self.half else data)
        self.tail_bytes += len(self.tail[-1])
        while self.tail_bytes - len(self.tail[0]) >= self.half:
            self.tail_bytes -= len(self.tail.popleft())

    def start_spill(self, data):
        """From the first byte that memory will lose, the whole goes to the file."""
        try:
            self.spill, self.spill_path = self.open_spill(self.name)
        except OSError as error:
            self.problem = str(error)
            return
        self.write_spill(bytes(self.head))
        for piece in self.tail:
            self.write_spill(piece)
        self.write_spill(data)

    def write_spill(self, data):
        data = data[: max(0, self.spill_limit - self.spilled)]
        if not data or self.problem:
            return
        try:
            view = memoryview(data)
            while view:
                written = os.write(self.spill, view)
                self.spilled += written
                view = view[written:]
        except OSError as error:
            self.problem = str(error)

    def take(self):
        """The text to show and the number of bytes that are kept nowhere; starts anew."""
        tail = b"".join(self.tail)
        left_out = self.total - len(self.head) - min(len(tail), self.half)
        if left_out > 0:
            text = show(bytes(self.head)) + self.mark(left_out) + show(tail[-self.half :])
            dropped = max(0, self.total - self.spilled) if self.spill is not None else left_out
        else:
            text = show(bytes(self.head) + tail)
            dropped = 0
        if self.spill is not None:
            os.close(self.spill)
        self.reset()
        return text, dropped

    def mark(self, left_out):
        """The sentence between head and tail."""
        where = ""
        if self.spill_path:
            whole = self.spilled >= self.total
            where = "; the whole output is in %s" if whole else "; its first {:,} bytes are in %s".format(self.spilled)
            where = where % self.spill_path
        if self.problem:
            where += "; it could not be kept whole: " + self.problem
        return "\n[... {:,} bytes left out{} ...]\n".format(left_out, where)


def show(data):
    """Text of bytes that may be cut inside a character at either end; control characters become U+FFFD."""
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    if start and len(data) > start:
        data = data[start:]
    return data.decode("utf-8", "replace").translate(PRINTABLE)


def plain(text):
    """A text of the user's (a value, a message, a name) as a terminal shows it, with nothing in it that acts on one."""
    return show(clean(text.encode("utf-8", "backslashreplace"))) if UNSAFE.search(text) else text
