"""Modules whose code runs when something of them is first used."""

import importlib
import sys
import threading
import types
from importlib.machinery import PathFinder


class Deferred(types.ModuleType):
    """Stands in `sys.modules` for a module and becomes it at the first use; the object stays the same."""

    def __getattr__(self, name):
        # whoever walks over all modules asks for these, and means nothing by it
        in_passing = name.startswith("__") and name not in ("__all__", "__version__")
        if not in_passing:
            if "version" in name and "__path__" in self.__dict__:
                # modules of a package ask it for its version while they are being imported
                found = find_version(self.__name__, name)
                if found is not None:
                    return found
            if load(self):
                return getattr(self, name)
        raise AttributeError("module %r has no attribute %r" % (self.__name__, name))

    def __setattr__(self, name, value):
        # the import system binds what belongs to a module and must not load it; a patch has to outlive the load
        is_part = name.startswith("__") or sys.modules.get("%s.%s" % (self.__name__, name)) is value
        if not is_part:
            load(self)
        types.ModuleType.__setattr__(self, name, value)

    def __delattr__(self, name):
        load(self)
        types.ModuleType.__delattr__(self, name)

    def __dir__(self):
        load(self)
        return list(self.__dict__)


def find_version(package, name):
    """A name of a package's `_version`, or None."""
    try:
        return getattr(importlib.import_module(package + "._version"), name, None)
    except ImportError:
        return None


def load(module):
    """Runs the code of a deferred module, once; False while this thread is at it."""
    if type(module) is not Deferred:
        return True
    postponed = module.__dict__["_postponed"]
    with postponed.lock:
        if type(module) is not Deferred:
            return True
        if postponed.is_loading:
            return False
        postponed.drop_stand_ins(module)
        postponed.is_loading = True
        try:
            module.__spec__.loader = module.__dict__["__loader__"] = postponed.loader
            postponed.loader.exec_module(module)
            successor = sys.modules.get(module.__name__)
            if successor is not module:
                # some modules put another object in their place, which has names of its own
                module.__dict__["__getattr__"] = lambda name: getattr(successor, name)
            del module.__dict__["_postponed"]
            module.__class__ = types.ModuleType
        finally:
            postponed.is_loading = False
    return True


class Postponed:
    """The loader of a deferred module: does nothing at the import."""

    def __init__(self, loader, called):
        self.loader = loader
        self.called = called
        # one for each module, as the import system has it: two that need each other's module would wait for good
        self.lock = threading.RLock()
        self.is_loading = False

    def __getattr__(self, name):
        # what tools ask a loader for: sources, data, names
        return getattr(self.loader, name)

    def create_module(self, spec):
        module = Deferred(spec.name)
        module.__dict__["_postponed"] = self
        module.__dict__.update((name, stand_in(module, name)) for name in self.called)
        return module

    def exec_module(self, _module):
        """Its code runs later."""

    def drop_stand_ins(self, module):
        """Whoever asks for these names from now on gets the real ones."""
        for name in self.called:
            module.__dict__.pop(name, None)


def stand_in(module, name):
    """Stands for a function or class that its importer only calls."""

    def call(*arguments, **options):
        load(module)
        return getattr(module, name)(*arguments, **options)

    return call


class Finder:
    """Finds modules as ever, and defers those in `names`: {module: what is imported from it one by one and only called}."""

    def __init__(self, names):
        self.names = names
        self.found = []

    def find_spec(self, name, path=None, target=None):
        if name not in self.names:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        spec.loader = Postponed(spec.loader, self.names[name])
        self.found.append(name)
        return spec

    def release(self):
        """Ends the time of the stand-ins; what was deferred stays so until somebody uses it."""
        for name in self.found:
            module = sys.modules.get(name)
            if type(module) is Deferred:
                module.__dict__["_postponed"].drop_stand_ins(module)
