"""Whether the interpreter has an ipykernel that this kernel knows, found without loading it."""

import importlib.util
import re

# version 7 replaced the event loop that the interrupts rest on
KNOWN = ("6",)
FIRST_NUMBER = re.compile(r"""^__version__\s*=\s*["'](\d+)""", re.MULTILINE)


def find_ipykernel():
    """One sentence about what is lacking, or None."""
    spec = importlib.util.find_spec("ipykernel")
    if spec is None or not spec.submodule_search_locations:
        return "has no ipykernel"
    with open(spec.submodule_search_locations[0] + "/_version.py", encoding="utf-8") as file:
        found = FIRST_NUMBER.search(file.read())
    if found is None or found[1] not in KNOWN:
        return "has ipykernel %s; versions %s are supported" % (found[1] if found else "of an unknown version", ", ".join(KNOWN))
    return None
