"""IPython where the interpreter has it, loaded when a cell first needs something only it can do."""

import importlib.util

_shell = None


def is_installed():
    return importlib.util.find_spec("IPython") is not None


def run(shim, kind, name, line, cell):
    """Runs a magic that is not built in, or says what to do instead."""
    from rlm.magics import UsageError

    written = ("%" if kind == "line" else "%%") + name
    if name in ("pinfo", "pinfo2") and not is_installed():
        raise UsageError("`%s?` needs IPython, which this Python does not have: use help(%s)" % (line, line))
    if not is_installed():
        raise UsageError(
            "%s is a magic of IPython, which this Python does not have. Built in are %%%%bash, %%%%sh, %%%%writefile, "
            "%%cd, %%pwd, %%env and !command." % written
        )
    shell = load(shim)
    if name not in shell.magics_manager.magics[kind]:
        raise UsageError("there is no magic %s" % written)
    if kind == "line":
        # three frames up are the user's own variables
        return shell.run_line_magic(name, line, 3)
    return shell.run_cell_magic(name, line, cell)


def load(shim):
    """One IPython shell over the kernel's own namespace; commands and displays stay ours."""
    global _shell
    if _shell is None:
        import builtins
        import sys

        from IPython.core.interactiveshell import InteractiveShell
        from traitlets.config import Config

        config = Config()
        # the history would be a database shared by all kernels of the user
        config.HistoryManager.enabled = False
        kept = (sys.displayhook, sys.excepthook, builtins.get_ipython, builtins.display, sys.modules["__main__"])
        module = kept[-1]
        _shell = InteractiveShell.instance(config=config, user_module=module, user_ns=module.__dict__)
        sys.displayhook, sys.excepthook, builtins.get_ipython, builtins.display, sys.modules["__main__"] = kept
        _shell.system = shim.system
        _shell.getoutput = shim.getoutput
        _shell.display_pub = make_publisher(shim.displays)
    return _shell


def make_publisher(displays):
    """What IPython's `display()` sends its bundles to."""
    from IPython.core.displaypub import DisplayPublisher

    class Publisher(DisplayPublisher):
        def publish(self, data, metadata=None, **_options):
            displays.show(data, raw=True)

        def clear_output(self, wait=False):
            """Nothing to clear: a cell's output is a record."""

    return Publisher()
