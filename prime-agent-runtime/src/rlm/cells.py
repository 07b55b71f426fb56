"""Compiles and runs a cell: statements, then the last expression for its value."""

import __future__

import linecache

# the C part alone: `ast` and `inspect` cost a good part of the start
from _ast import Expr, Expression, PyCF_ALLOW_TOP_LEVEL_AWAIT, PyCF_ONLY_AST

# inspect.CO_COROUTINE
COROUTINE = 0x80
FEATURES = 0
for _name in __future__.all_feature_names:
    FEATURES |= getattr(__future__, _name).compiler_flag
# sources of old cells are kept this long, for tracebacks and inspect.getsource
KEEP_SOURCES = 1000


class Compiler:
    """Turns source into code objects; `from __future__` imports hold for later cells."""

    def __init__(self):
        self.flags = PyCF_ALLOW_TOP_LEVEL_AWAIT
        self.names = []

    def compile(self, source, filename):
        """Code objects in order, each with whether its value is the cell's result."""
        self.remember(source, filename)
        tree = self.parse(source, filename)
        last = None
        if tree.body and isinstance(tree.body[-1], Expr) and not source.rstrip().endswith(";"):
            last = Expression(tree.body.pop().value)
        parts = []
        if tree.body:
            parts.append((self.compile_tree(tree, filename, "exec"), False))
        if last is not None:
            parts.append((self.compile_tree(last, filename, "eval"), True))
        return parts

    def compile_tree(self, tree, filename, mode):
        code = compile(tree, filename, mode, flags=self.flags, dont_inherit=True)
        self.flags |= code.co_flags & FEATURES
        return code

    def parse(self, source, filename):
        flags = self.flags | PyCF_ONLY_AST
        try:
            return compile(source, filename, "exec", flags=flags, dont_inherit=True)
        except SyntaxError:
            # maybe it holds lines that are not Python, or is indented as a whole
            import textwrap

            from rlm.transform import transform

            changed = transform(textwrap.dedent(source))
            if changed == source:
                raise
        return compile(changed, filename, "exec", flags=flags, dont_inherit=True)

    def remember(self, source, filename):
        linecache.cache[filename] = (len(source), None, [line + "\n" for line in source.split("\n")], filename)
        self.names.append(filename)
        if len(self.names) > KEEP_SOURCES:
            linecache.cache.pop(self.names.pop(0), None)


async def run_parts(parts, namespace):
    """Runs compiled code in the namespace; returns `(has_value, value)`."""
    result = (False, None)
    for code, is_value in parts:
        value = eval(code, namespace)
        if code.co_flags & COROUTINE:
            value = await value
        if is_value:
            result = (True, value)
    return result
