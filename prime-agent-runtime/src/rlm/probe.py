"""Says as one line of JSON what an interpreter has for a kernel, and which of the packages that are asked for.

This file must stay readable for every Python 3, so that an old one can answer, too.
"""

import importlib.util
import json
import os
import re
import sys

IPYKERNEL_VERSION = re.compile(r"""^__version__\s*=\s*["']([^"']+)""", re.MULTILINE)


def has(name):
    return importlib.util.find_spec(name) is not None


def read_ipykernel():
    """The installed version and what is wrong with it, each None where there is nothing to say."""
    sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from rlm.jupyter.version import find_ipykernel

    lacked = find_ipykernel()
    spec = importlib.util.find_spec("ipykernel")
    if spec is None or not spec.submodule_search_locations:
        return None, lacked
    with open(spec.submodule_search_locations[0] + "/_version.py", encoding="utf-8") as file:
        found = IPYKERNEL_VERSION.search(file.read())
    return found[1] if found else None, lacked


def main():
    answer = {
        "version": "%d.%d.%d" % sys.version_info[:3],
        "environment": sys.prefix if sys.prefix != sys.base_prefix else None,
        "old": sys.version_info < (3, 10),
    }
    if not answer["old"]:
        answer["ipykernel"], answer["lacked"] = read_ipykernel()
        answer["packages"] = [name for name in sys.argv[1:] if has(name)]
        answer["venv"] = has("venv")
        answer["ensurepip"] = has("ensurepip")
        answer["pip"] = has("pip")
    print(json.dumps(answer))


main()
