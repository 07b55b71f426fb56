"""What the model sees of an exception: the frames of its own code, with source lines."""

import os
import sysconfig
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
MAX_FRAMES = 24
MAX_VALUE = 1 << 14
LIBRARY = tuple({sysconfig.get_paths()[name] + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def describe(error):
    """`{"name", "value", "traceback"}` of an exception."""
    try:
        value = str(error)
    except Exception as problem:
        # a faulty __str__ of the user's own class
        value = "<its message could not be made: %s>" % type(problem).__name__
    if len(value) > MAX_VALUE:
        value = value[:MAX_VALUE] + "... (%d characters)" % len(value)
    return {"name": type(error).__name__, "value": value, "traceback": format_lines(error)}


def format_lines(error):
    """Plain lines, outermost frame first, with causes."""
    report = traceback.TracebackException(type(error), error, error.__traceback__, compact=True)
    trim(report, set())
    text = "".join(report.format())
    return text.rstrip("\n").split("\n")


def trim(report, seen):
    """Drops the kernel's own frames and the middle of library frames, in this exception and all it came from."""
    if report is None or id(report) in seen:
        return
    seen.add(id(report))
    report.stack = traceback.StackSummary.from_list(choose_frames(list(report.stack)))
    trim(report.__cause__, seen)
    trim(report.__context__, seen)
    for inner in getattr(report, "exceptions", None) or ():
        trim(inner, seen)


def choose_frames(frames):
    """The user's frames and the innermost one."""
    frames = [frame for frame in frames if not frame.filename.startswith(HERE + os.sep)]
    kept = [frame for position, frame in enumerate(frames) if position == len(frames) - 1 or is_users(frame)]
    if len(kept) > MAX_FRAMES:
        half = MAX_FRAMES // 2
        kept = kept[:half] + kept[-half:]
    return kept


def is_users(frame):
    name = frame.filename
    if name.startswith("<cell "):
        return True
    return not name.startswith("<") and not name.startswith(LIBRARY) and "site-packages" not in name


