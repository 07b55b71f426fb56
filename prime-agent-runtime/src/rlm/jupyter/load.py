"""Loads what a kernel on ipykernel is made of, before anything of the kernel exists."""

import gc
import importlib
import sys

from rlm.jupyter.fillers import Fillers
from rlm.jupyter.spare import spared


def load():
    """Afterwards `rlm.jupyter.kernel` can be used. No garbage is collected from here until the kernel is ready."""
    gc.disable()
    if "rlm.jupyter.kernel" in sys.modules:
        return
    # IPython keeps a file of its own open, whose number must not be one that is used by number
    fillers = Fillers()
    try:
        load_sparingly("rlm.jupyter.kernel")
    finally:
        fillers.close()


def load_sparingly(name):
    """Imports a module and leaves what it need not have for later; at once and whole, where that does not work out."""
    known = set(sys.modules)
    try:
        with spared():
            importlib.import_module(name)
    except ImportError:
        # a version of one of the packages that needs at once what others use late
        for loaded in set(sys.modules) - known:
            del sys.modules[loaded]
        importlib.import_module(name)
