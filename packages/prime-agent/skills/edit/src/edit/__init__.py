"""Replaces text that occurs once in a file."""

import builtins
import os

from .change import change_file
from .diff import MIME, make_diff

__all__ = ["run"]


async def run(path: str | os.PathLike, old_str: str, new_str: str) -> str:
    """Replaces `old_str`, which has to occur exactly once in the file, by `new_str`; every other byte stays.

    `path` may be relative or begin with `~`. Raises FileNotFoundError for a missing file and ValueError when `old_str`
    occurs never or several times; nothing is written then.
    """
    path = os.fsdecode(path)
    change = change_file(path, old_str, new_str)
    display = getattr(builtins, "display", None)
    if display is not None:
        # for people who watch; the model knows what it asked for
        display({MIME: make_diff(change), "text/plain": ""}, raw=True)
    return "Edited " + path
