"""Makes programs that would wait for a person fail clearly instead."""

import os

NO_EDITOR = (
    "sh -c 'echo \"No editor can open here: pass the text as an argument (git commit -m ...) or in a file.\" >&2; exit 1' --"
)

FIXED = {
    "EDITOR": NO_EDITOR,
    "VISUAL": NO_EDITOR,
    "GIT_EDITOR": NO_EDITOR,
    "GIT_SEQUENCE_EDITOR": NO_EDITOR,
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "",
    "GIT_TERMINAL_PROMPT": "0",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
    "TERM": "dumb",
}
# stand before editors that are opened outright
EDITORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "editors")
# a wish of the user's is stronger than these
DEFAULTS = {"GIT_SSH_COMMAND": "ssh -o BatchMode=yes", "MPLBACKEND": "agg"}


def neutralise(environ):
    """Changes the environment of the kernel and of all it starts."""
    environ.update(FIXED)
    for name, value in DEFAULTS.items():
        environ.setdefault(name, value)
    environ["PATH"] = EDITORS + os.pathsep + environ.get("PATH", os.defpath)
