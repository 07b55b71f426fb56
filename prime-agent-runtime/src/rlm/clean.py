"""What a terminal would show in the end: progress bars and colours collapsed while output streams by."""

import re

# a line without its end is held back this long, since a carriage return could still overwrite it
HOLD_BYTES = 1 << 16
# CSI (colours, cursor), OSC (titles, links), charset choice, and other two-byte sequences
ESCAPE = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[PX^_][^\x1b\n]*(?:\x1b\\)?|[ -/]+[0-~]|[0-Z\\-~]|)"
)
ERASE = re.compile(rb"\x1b\[([012]?)K")
STEP = re.compile(r"\r|\x08|\x00|\x01|\x02|[^\r\x08\x00\x01\x02]+")
# how erase sequences travel through the line emulation; these bytes never come from a terminal program on purpose
ERASES = {b"": b"\x00", b"0": b"\x00", b"1": b"\x01", b"2": b"\x02"}


class Cleaner:
    """Feed it bytes of one stream; it returns what is certain and holds back an unfinished line."""

    def __init__(self):
        self.held = b""

    def feed(self, data):
        """Cleaned bytes that are ready."""
        if self.held:
            data = self.held + data
            self.held = b""
        cut = data.rfind(b"\n") + 1
        if len(data) - cut > HOLD_BYTES:
            data = data[:cut] + collapse(data[cut:])
        if len(data) - cut > HOLD_BYTES:
            # a sequence that has begun is held back
            escape = data.rfind(b"\x1b", len(data) - 64)
            cut = len(data) if escape < 0 else escape
        self.held = data[cut:]
        return clean(data[:cut])

    def finish(self):
        """The rest."""
        data, self.held = self.held, b""
        return clean(data)


def collapse(line):
    """A long unfinished line with what its last carriage return will overwrite drawn already."""
    last = line.rfind(b"\r")
    return redraw(line[:last]) + line[last:] if last > 0 else line


def clean(data):
    """Whole lines as a terminal shows them."""
    if b"\r" not in data and b"\x1b" not in data and b"\x08" not in data:
        return data
    data = data.replace(b"\r\n", b"\n")
    if b"\r" not in data and b"\x08" not in data:
        return ESCAPE.sub(b"", data)
    return b"\n".join(
        redraw(line) if b"\r" in line or b"\x08" in line else ESCAPE.sub(b"", line) for line in data.split(b"\n")
    )


def redraw(line):
    """One line with carriage returns, backspaces and erasures carried out."""
    line = line.translate(None, b"\x00\x01\x02")
    line = ERASE.sub(lambda match: ERASES[match[1]], line)
    text = ESCAPE.sub(b"", line).decode("utf-8", "surrogateescape")
    # a list, and what is known to be blank: each step costs what it writes, however long the line is
    shown = []
    column = blank = 0
    for step in STEP.findall(text):
        if step == "\r":
            column = 0
        elif step == "\x08":
            column = max(0, column - 1)
        elif step == "\x00":
            del shown[column:]
        elif step == "\x01":
            end = min(column, len(shown))
            if end > blank:
                shown[blank:end] = " " * (end - blank)
                blank = end
        elif step == "\x02":
            # programs return the carriage beside this
            shown, column, blank = [], 0, 0
        else:
            if column > len(shown):
                shown.extend(" " * (column - len(shown)))
            shown[column : column + len(step)] = step
            blank = min(blank, column)
            column += len(step)
    return "".join(shown).encode("utf-8", "surrogateescape")
