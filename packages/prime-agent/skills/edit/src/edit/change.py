"""Changes one passage of a file and leaves every other byte as it is."""

import os
import re
import stat
import tempfile
from dataclasses import dataclass

MAX_LINES_NAMED = 5
# more are not counted
MAX_PLACES = 100
# memory for several copies of a file is needed
MAX_BYTES = 256 << 20
# of the search for a passage that is nearly the same
MAX_STEPS = 1 << 28


@dataclass
class Change:
    """What was done: the whole file before, and the passage in it that gave way to another one."""

    path: str
    before: bytes
    start: int
    old: bytes
    new: bytes


def change_file(path, old_str, new_str):
    """Replaces the one occurrence of `old_str`; returns the change. The file is replaced as a whole or not at all."""
    target = os.path.realpath(os.path.expanduser(path))
    status = os.stat(target)
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("%s is not a file" % path)
    if status.st_size > MAX_BYTES:
        raise ValueError("%s has %d bytes, too many to edit (limit %d)" % (path, status.st_size, MAX_BYTES))
    if not os.access(target, os.W_OK):
        raise PermissionError("%s may not be written to" % path)
    if not old_str:
        raise ValueError("old_str is empty: name the text that is to give way")
    with open(target, "rb") as file:
        before = file.read()
    old, new = find_form(before, encode(old_str, "old_str"), encode(new_str, "new_str"))
    if old == new:
        raise ValueError("old_str and new_str are the same: there is nothing to change")
    places = find_all(before, old)
    if len(places) != 1:
        raise ValueError(explain(path, before, old, places))
    start = places[0]
    replace(target, status, before[:start] + new + before[start + len(old) :])
    return Change(target, before, start, old, new)


def encode(text, name):
    """Bytes of a text; those that a lenient reader turned into surrogates come back."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise ValueError("%s holds half a character: %s" % (name, error)) from None


def find_form(data, old, new):
    """Both texts with the line endings of the file: who writes them has `\\n`."""
    with_returns = to_crlf(old), to_crlf(new)
    if b"\r\n" not in data:
        return old, new
    if not re.search(rb"(?<!\r)\n", data):
        return with_returns
    # a file with both kinds: as it was written if that is there
    return (old, new) if old in data else with_returns


def to_crlf(text):
    return re.sub(rb"(?<!\r)\n", b"\r\n", text)


def find_all(data, part):
    """Where a part begins, overlapping places included; the first ones when there are many."""
    places = []
    at = data.find(part)
    while at >= 0 and len(places) < MAX_PLACES:
        places.append(at)
        at = data.find(part, at + 1)
    return places


def explain(path, data, old, places):
    """Why there is not exactly one place, and where to look."""
    if places:
        times = "%d times" % len(places) if len(places) < MAX_PLACES else "%d times or more" % MAX_PLACES
        return "old_str occurs %s in %s (%s): take in text around it until it is unique" % (
            times,
            path,
            name_lines(data, places),
        )
    words = old.split()
    is_cheap = words and len(data) * len(words) <= MAX_STEPS
    similar = re.search(rb"\s+".join(re.escape(word) for word in words), data) if is_cheap else None
    if similar:
        return "old_str does not occur in %s; a passage that differs in white space only begins in line %d" % (
            path,
            line_of(data, similar.start()),
        )
    return "old_str does not occur in %s: read the file again and copy the passage exactly" % path


def name_lines(data, places):
    """The lines of places, each once."""
    lines, line, at = [], 1, 0
    for place in places:
        line, at = line + data.count(b"\n", at, place), place
        if line not in lines:
            lines.append(line)
    more = ", ..." if len(lines) > MAX_LINES_NAMED else ""
    return "%s %s%s" % ("line" if len(lines) == 1 else "lines", ", ".join(map(str, lines[:MAX_LINES_NAMED])), more)


def line_of(data, place):
    return data.count(b"\n", 0, place) + 1


def replace(target, status, data):
    """Puts new content in the place of a file, with its owner and mode."""
    # the name of the file could leave no room for more
    handle, draft = tempfile.mkstemp(prefix=".edit.", dir=os.path.dirname(target))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            keep_owner(file.fileno(), status)
            os.fchmod(file.fileno(), stat.S_IMODE(status.st_mode))
            os.fsync(file.fileno())
        now = os.stat(target)
        if (now.st_mtime_ns, now.st_size, now.st_ino) != (status.st_mtime_ns, status.st_size, status.st_ino):
            raise ValueError("%s was changed by somebody else in this moment: read it again" % target)
        os.replace(draft, target)
    except BaseException:
        os.unlink(draft)
        raise


def keep_owner(handle, status):
    made = os.fstat(handle)
    if (made.st_uid, made.st_gid) == (status.st_uid, status.st_gid):
        return
    try:
        os.fchown(handle, status.st_uid, status.st_gid)
    except PermissionError:
        # a file of somebody else in a folder of ours: it becomes ours, as with any editor
        return
