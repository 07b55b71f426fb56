"""Finds the text by which a cell defined a function or a class."""

import ast
import linecache
import re

CELL = re.compile(r"<(?:cell|restored) (\d+)>")
# calls that only make a type
FACTORIES = ("namedtuple", "NamedTuple", "TypedDict", "NewType", "make_dataclass", "Enum", "IntEnum", "Flag")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def restored_name(number):
    """The file name of a definition that came from a snapshot; sorts before every cell."""
    return "<restored %d>" % number


def remember(text, filename):
    """Keeps a source where tracebacks and this module look for it."""
    linecache.cache[filename] = (len(text), None, [line + "\n" for line in text.split("\n")], filename)


class Sources:
    """The cells that are still known, read when they are asked for."""

    def __init__(self):
        found = [(CELL.fullmatch(name), name) for name in list(linecache.cache)]
        order = [(name.startswith("<cell"), int(match[1]), name) for match, name in found if match]
        self.cells = [name for _is_cell, _number, name in sorted(order)]
        self.known = {}

    def find(self, value, bound):
        """`(text, the name that it defines, its place in the order of definitions)`, or None."""
        # a lambda and a type that was made by a call may be named otherwise
        for defined in dict.fromkeys((value.__qualname__, bound)):
            found = self.find_name(value, defined) if defined.isidentifier() else None
            if found:
                return found
        return None

    def find_name(self, value, defined):
        code = getattr(getattr(value, "__wrapped__", value), "__code__", None)
        for index in reversed(range(len(self.cells))):
            filename = self.cells[index]
            if code is not None and code.co_filename in self.cells and code.co_filename != filename:
                continue
            found = self.definitions(filename).get(defined)
            if found:
                return (found[0], defined, [index, found[1]])
        return None

    def definitions(self, filename):
        """Text and line of all that a cell defines outside of functions and classes, by name; the last one counts."""
        if filename not in self.known:
            text = "".join(linecache.cache[filename][2])
            try:
                tree = ast.parse(text)
                self.known[filename] = dict(walk(tree.body, text.split("\n")))
            except (SyntaxError, ValueError, RecursionError):
                # a cell with magics, which defined nothing that could be found this way
                self.known[filename] = {}
        return self.known[filename]


def makes_definition(value):
    """True for an expression that does nothing but define: a lambda, `namedtuple(...)` and the like."""
    if isinstance(value, ast.Lambda):
        return True
    function = getattr(value, "func", None)
    return getattr(function, "attr", getattr(function, "id", None)) in FACTORIES


def walk(statements, lines):
    for node in statements:
        if isinstance(node, DEFINITIONS):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            yield node.name, (cut(lines, first, node), first)
        elif isinstance(node, ast.Assign) and makes_definition(node.value):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, (cut(lines, node.lineno, node), node.lineno)
        else:
            for field in ("body", "orelse", "finalbody"):
                yield from walk(getattr(node, field, None) or [], lines)
            for handler in getattr(node, "handlers", []):
                yield from walk(handler.body, lines)


def cut(lines, first, node):
    """The statement's own text; one that stands in a block gets a block, since its strings must stay as they are."""
    chosen = lines[first - 1 : node.end_lineno]
    # columns count bytes
    chosen[-1] = chosen[-1].encode()[: node.end_col_offset].decode()
    if node.col_offset == 0:
        return "\n".join(chosen)
    if first == node.lineno:
        chosen[0] = " " * node.col_offset + chosen[0].encode()[node.col_offset :].decode()
    return "\n".join(["if True:", *chosen])
