"""What the model sees of an exception: the frames of its own code, with source lines."""

import os
import site
import traceback

from rlm.keep import plain

HERE = os.path.dirname(os.path.abspath(__file__))
MAX_FRAMES = 16
MAX_DEPTH = 400
MAX_VALUE = 1 << 14
MAX_LINE = 2000
MAX_LINES = 400
MAX_NAME = 200
# the real one: a metaclass may answer anything
NAME = type.__dict__["__name__"]
LIBRARY = tuple({path + os.sep for path in (os.path.dirname(os.__file__), *site.getsitepackages())})


def describe(error):
    """`{"name", "value", "traceback"}` of an exception; an interrupt meanwhile, or a fault of its own code, shortens it."""
    name, value = name_of(error), ""
    try:
        value = message_of(error)
        lines = format_lines(error)
    except BaseException as problem:
        # faulty methods of the user's own class
        value = value or "<its message could not be made: %s>" % name_of(problem)
        lines = ["%s: %s" % (name, value)]
    return {"name": name, "value": value, "traceback": lines}


def name_of(error):
    """The name of its class, whatever a metaclass says about it."""
    return plain(NAME.__get__(type(error))[:MAX_NAME])


def message_of(error):
    try:
        value = str(error)
    except Exception as problem:
        # a faulty __str__ of the user's own class
        return "<its message could not be made: %s>" % name_of(problem)
    if len(value) > MAX_VALUE:
        value = value[:MAX_VALUE] + "... (%d characters)" % len(value)
    return plain(value)


def format_lines(error):
    """Plain lines, outermost frame first, with causes."""
    left_out = shorten(error)
    report = traceback.TracebackException(type(error), error, error.__traceback__, compact=True)
    left_out += trim(report)
    lines = "".join(report.format()).rstrip("\n").split("\n")
    cut = len(lines) - MAX_LINES
    if cut > 0:
        half = MAX_LINES // 2
        lines[half:-half] = ["  [%d lines in the middle are left out]" % cut]
    lines = [line if len(line) <= MAX_LINE else line[:MAX_LINE] + "..." for line in lines]
    if left_out:
        lines.insert(1, "  [%d frames in the middle are left out]" % left_out)
    return [plain(line) for line in lines]


def shorten(error):
    """Cuts the middle out of tracebacks so deep that reading their frames would take minutes; returns how many frames."""
    removed = 0
    for each in (error, error.__cause__, error.__context__):
        frames = []
        link = each.__traceback__ if each is not None else None
        while link is not None:
            frames.append(link)
            link = link.tb_next
        if len(frames) > MAX_DEPTH:
            half = MAX_DEPTH // 2
            frames[half - 1].tb_next = frames[-half]
            removed += len(frames) - MAX_DEPTH
    return removed


def trim(report):
    """Drops the kernel's own frames and the middle of library frames, in this exception and all it came from.

    Returns how many of the user's frames had to go as well.
    """
    removed = 0
    seen, waiting = set(), [report]
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        frames = choose_frames(list(each.stack))
        if len(frames) > MAX_FRAMES:
            removed += len(frames) - MAX_FRAMES
            frames = frames[: MAX_FRAMES // 2] + frames[-MAX_FRAMES // 2 :]
        each.stack = traceback.StackSummary.from_list(frames)
        waiting += (each.__cause__, each.__context__, *(getattr(each, "exceptions", None) or ()))
    return removed


def choose_frames(frames):
    """The user's frames and the innermost one."""
    frames = [frame for frame in frames if not frame.filename.startswith(HERE + os.sep)]
    return [frame for position, frame in enumerate(frames) if position == len(frames) - 1 or is_users(frame)]


def is_users(frame):
    name = frame.filename
    if name.startswith("<cell "):
        return True
    return not name.startswith("<") and not name.startswith(LIBRARY) and "site-packages" not in name


