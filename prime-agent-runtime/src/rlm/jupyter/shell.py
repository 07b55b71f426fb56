"""IPython's shell with the commands, the values and the errors of the built-in kernel."""

import sys
import traceback

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.formatters import DisplayFormatter, PlainTextFormatter
from ipykernel.zmqshell import ZMQInteractiveShell
from traitlets import Type

from rlm.display import TEXT_ONLY, draw, encode, is_figure
from rlm.pretty import cut_middle, text_of


class Text(PlainTextFormatter):
    """Text of a value, bounded; a printer that a library registered for its type is respected."""

    def __call__(self, value):
        if type(value) in self.type_printers_here or hasattr(type(value), "_repr_pretty_"):
            return cut_middle(super().__call__(value) or "")
        return text_of(value)

    @property
    def type_printers_here(self):
        """Types that have a printer now and had none at the start."""
        return self.type_printers.keys() - self.known

    def remember(self):
        """What is registered now comes from IPython itself."""
        self.known = set(self.type_printers)


class Formatter(DisplayFormatter):
    """All representations of a value; those that would only cost tokens are left out."""

    def format(self, value, include=None, exclude=None):
        if type(value).__module__.partition(".")[0] in TEXT_ONLY:
            include = {"text/plain"}
        data, metadata = super().format(value, include=include, exclude=exclude)
        if "image/png" not in data and is_figure(value):
            data["image/png"] = draw(value)
        return data, metadata


class Publisher(DisplayPublisher):
    """What `display()` ends in."""

    displays = None

    def publish(self, data, metadata=None, **_options):
        self.displays.show(data, raw=True)

    def clear_output(self, wait=False):
        """Nothing to clear: a cell's output is a record."""


class Hook(DisplayHook):
    """Keeps the representations of a cell's value for its reply."""

    value = None

    def start_displayhook(self):
        """No prompt is printed."""

    write_output_prompt = finish_displayhook = start_displayhook

    def write_format_data(self, format_dict, md_dict=None):
        self.value = {mime: encode(data) for mime, data in format_dict.items() if data is not None}

    def log_output(self, format_dict):
        """There is no log."""


class LateCompleter:
    """Makes the completer when somebody first asks the shell for it: no host does."""

    def __get__(self, shell, _owner=None):
        if shell is None:
            return self
        ZMQInteractiveShell.init_completer(shell)
        completer = shell.__dict__["Completer"]
        # its own way is slow and gives nothing to a program that asks
        completer.use_jedi = False
        return completer


class Shell(ZMQInteractiveShell):
    """Errors stay with the result of the cell; nothing ends the kernel from inside."""

    displayhook_class = Type(Hook)
    display_pub_class = Type(Publisher)
    Completer = LateCompleter()

    def init_completer(self):
        """See above."""

    def init_display_formatter(self):
        self.display_formatter = Formatter(parent=self)
        text = Text(parent=self.display_formatter)
        text.remember()
        self.display_formatter.formatters["text/plain"] = text
        self.configurables.append(self.display_formatter)

    def set_parent(self, parent):
        """Output finds its cell by itself."""
        self.parent_header = parent

    def showtraceback(self, exc_tuple=None, *_args, running_compiled_code=False, **_options):
        """The cell's own error is in its result; any other is said here."""
        if not running_compiled_code:
            self.show_elsewhere(exc_tuple)

    def showsyntaxerror(self, *_args, **_options):
        """It is in the result."""

    showindentationerror = showsyntaxerror

    def show_elsewhere(self, exc_tuple):
        error = exc_tuple[1] if exc_tuple else sys.exc_info()[1]
        # a UsageError and the end of a program are results of the cell as well
        if error is not None and not isinstance(error, SystemExit) and type(error).__name__ != "UsageError":
            traceback.print_exception(error)

    def ask_exit(self):
        """`exit()` ends the cell and not the kernel."""
        raise SystemExit

    def take_value(self):
        """The representations of the cell's value, or None."""
        value, self.displayhook.value = self.displayhook.value, None
        return value

    def take_pages(self):
        """What the cell asked a pager for."""
        texts = []
        for payload in self.payload_manager.read_payload():
            if payload.get("source") == "page":
                texts.append(payload["data"].get("text/plain", ""))
            elif payload.get("source") == "set_next_input":
                texts.append(payload["text"])
        self.payload_manager.clear_payload()
        return "".join(text if text.endswith("\n") else text + "\n" for text in texts)


def adopt_commands(shell, shim, displays):
    """Commands, scripts and files go the way of the built-in kernel, which loses nothing and never waits for a pipe."""
    shell.system = shell.system_piped = shell.system_raw = shim.system
    shell.getoutput = shim.getoutput
    shell.display_pub.displays = displays
    for name in ("bash", "sh", "writefile"):
        shell.register_magic_function(getattr(shim, "cell_" + name), "cell", name)
    for name in ("cd", "env", "set_env"):
        shell.register_magic_function(getattr(shim, "line_" + name), "line", name)
