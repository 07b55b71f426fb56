"""Saves one variable after another; each may crash, hang or end the process that does it."""

import importlib.util
import io
import pickle
import sys
import types
from _thread import RLock, allocate_lock

from rlm.snapshot.file import TooLarge, Unwritable

PROTOCOL = 5
# a pickle that only names something is shorter
SHORT = 256
# meaningless in another process, although dill would save some of them
LIVE = (
    io.IOBase,
    type(allocate_lock()),
    RLock,
    types.GeneratorType,
    types.CoroutineType,
    types.AsyncGeneratorType,
    types.FrameType,
    types.TracebackType,
)
# likewise, of modules that are not loaded for the question
LIVE_ELSEWHERE = (("socket", "socket"), ("subprocess", "Popen"), ("threading", "Thread"))


class Unsaved(Exception):
    """A variable cannot be saved; the text says why."""


def live_types():
    """Types whose objects belong to their process."""
    found = (getattr(sys.modules.get(module), name, None) for module, name in LIVE_ELSEWHERE)
    return LIVE + tuple(each for each in found if isinstance(each, type))


def is_definition(value):
    """True for what pickle would only note by its name in `__main__`: functions, classes and their wrappers."""
    return getattr(value, "__module__", None) == "__main__" and isinstance(getattr(value, "__qualname__", None), str)


class Saver:
    """Saves one variable after another."""

    def __init__(self, writer, namespace, first, saved, limits):
        self.writer = writer
        self.namespace = namespace
        # the first name of every object
        self.first = first
        self.limits = limits
        self.sources = None
        self.live = live_types()
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
        if isinstance(value, self.live):
            raise Unsaved("a live %s belongs to its process" % type(value).__name__)
        try:
            defined = is_definition(value)
        except Exception as error:
            raise Unsaved("it cannot be looked at: %s" % type(error).__name__) from error
        if not defined:
            return self.pickle(name, value)
        if self.sources is None:
            # imported late: it parses, which most variables do not need
            from rlm.snapshot.sources import Sources

            self.sources = Sources()
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
            make_pickler(data, self.live).dump(value)
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
