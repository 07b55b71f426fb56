"""Keeps a start from loading what few kernels ever use: more than half of the processor time of a plain ipykernel."""

import contextlib
import sys
import types

from rlm.jupyter.deferred import Finder

# ipykernel does without them: a debugger and a completion engine
UNUSED = ("debugpy", "jedi")
TERMINAL = "IPython.terminal.embed"
# what asyncio, IPython and ipykernel import and do not use before a cell does, with the names that they import one by
# one and only call
DEFERRED = {
    "IPython.core.completer": ("provisionalcompleter", "rectify_completions"),
    "asyncio.sslproto": (),
    "cProfile": (),
    "curses": (),
    "dateutil.parser": ("parse",),
    "dateutil.tz": ("tzlocal",),
    "ipykernel": ("connect_qtconsole", "get_connection_file", "get_connection_info"),
    "ipaddress": (),
    "jupyter_client": ("write_connection_file",),
    "logging.config": ("dictConfig",),
    "logging.handlers": (),
    "packaging.version": ("Version",),
    "pexpect": (),
    "pprint": ("pformat",),
    "psutil": ("Process",),
    "pstats": (),
    "pydoc": (),
    "pygments": ("highlight",),
    "pygments.formatters": ("HtmlFormatter",),
    "pygments.formatters.terminal256": ("Terminal256Formatter",),
    "pygments.lexers": ("PythonLexer",),
    "pygments.styles": ("get_style_by_name",),
    "ssl": (),
    "stack_data": (),
    "tornado.escape": ("_unicode",),
    "urllib.request": ("Request", "urlopen"),
}


@contextlib.contextmanager
def spared():
    """While it lasts the unused modules cannot be imported; afterwards cells can import and use all of them as ever."""
    for name in UNUSED:
        sys.modules[name] = None
    stub = types.ModuleType(TERMINAL)
    stub.embed = refuse_embed
    sys.modules[TERMINAL] = stub
    finder = Finder(DEFERRED)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        finder.release()
        for name in (*UNUSED, TERMINAL):
            del sys.modules[name]


def refuse_embed(*_args, **_options):
    """Stands for `IPython.embed()`."""
    raise RuntimeError("IPython.embed() needs a terminal, and this kernel has none")
