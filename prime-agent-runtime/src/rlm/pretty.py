"""Text of a value, bounded: a huge container shows its start."""

import io

MAX_ITEMS = 1000
WIDTH = 88
MAX_DEPTH = 30
MAX_CHARS = 1 << 16
BRACKETS = {list: ("[", "]"), tuple: ("(", ")"), set: ("{", "}"), frozenset: ("frozenset({", "})"), dict: ("{", "}")}


def pretty(value):
    """`repr`, laid out over lines when it is long."""
    return cut_middle(Printer().show(value, 0, 0))


def cut_middle(text):
    """A long text without its middle."""
    if len(text) <= MAX_CHARS:
        return text
    half = MAX_CHARS // 2
    return "%s\n[... %d characters left out ...]\n%s" % (text[:half], len(text) - MAX_CHARS, text[-half:])


class Printer:
    """Shows nested built-in containers; everything else by its own `repr`."""

    def __init__(self):
        self.open = set()
        self.shown = 0

    def show(self, value, indent, depth):
        kind = type(value)
        if kind not in BRACKETS or not value:
            self.shown += 1
            return repr(value)
        if id(value) in self.open or depth > MAX_DEPTH:
            left, right = BRACKETS[kind]
            return left + "..." + right
        self.open.add(id(value))
        try:
            return self.show_items(value, kind, indent, depth)
        finally:
            self.open.discard(id(value))

    def show_items(self, value, kind, indent, depth):
        left, right = BRACKETS[kind]
        pad = indent + len(left)
        parts = []
        source = value.items() if kind is dict else ordered(value) if kind in (set, frozenset) else value
        for count, item in enumerate(source):
            if count >= MAX_ITEMS or self.shown > 10 * MAX_ITEMS:
                parts.append("... (%d items)" % len(value))
                break
            if kind is dict:
                key = self.show(item[0], pad, depth + 1)
                parts.append(key + ": " + self.show(item[1], pad + len(key) + 2, depth + 1))
            else:
                parts.append(self.show(item, pad, depth + 1))
        one_line = left + ", ".join(parts) + ("," if kind is tuple and len(parts) == 1 else "") + right
        if len(one_line) + indent <= WIDTH and "\n" not in one_line:
            return one_line
        return left + (",\n" + " " * pad).join(parts) + ("," if kind is tuple and len(parts) == 1 else "") + right


def ordered(values):
    """A set in a stable order where its values have one."""
    if len(values) > MAX_ITEMS:
        return values
    try:
        return sorted(values)
    except Exception:
        # values without an order of their own
        return list(values)


def text_of(value):
    """`pretty`, with IPython's `_repr_pretty_` where a class has only that."""
    method = getattr(type(value), "_repr_pretty_", None)
    if method is not None and type(value).__repr__ is object.__repr__:
        buffer = io.StringIO()
        try:
            method(value, Plain(buffer), False)
            return cut_middle(buffer.getvalue())
        except Exception:
            # it needs more of IPython's printer than text()
            return repr(value)
    return pretty(value)


class Plain:
    """The part of IPython's pretty printer that simple classes use."""

    def __init__(self, buffer):
        self.text = buffer.write

    def pretty(self, value):
        self.text(pretty(value))
