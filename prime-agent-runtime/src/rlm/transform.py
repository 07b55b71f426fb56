"""Turns lines that are not Python (`!cmd`, `%magic`, `obj?`) into calls, keeping every line number."""

import re

COMMAND = re.compile(r"^(\s*)(!!?)(.*)$", re.DOTALL)
ASSIGNED = re.compile(r"^(\s*[\w.\[\]\"', *()]+?\s*=\s*)(!|%(?=\w))(.*)$", re.DOTALL)
MAGIC = re.compile(r"^(\s*)%(\w+)(?:[ \t]+(.*))?$", re.DOTALL)
CELL_MAGIC = re.compile(r"^\s*%%(\w+)")
HELP = re.compile(r"^(\s*)(?:(\?{1,2})([\w.*]+)|([\w.*]+)(\?{1,2}))\s*$")
QUOTE = re.compile(r"'''|\"\"\"|'|\"")


class MisplacedMagic(SyntaxError):
    """A cell magic that is not on the first line."""


MisplacedMagic.__module__ = "builtins"


def transform(source):
    """Python source with as many lines as the cell."""
    lines = source.split("\n")
    result = []
    state = State()
    index = 0
    while index < len(lines):
        line = lines[index]
        used = 1
        if state.at_statement:
            misplaced = CELL_MAGIC.match(line)
            if misplaced:
                raise MisplacedMagic("%%%%%s must be the first line of the cell" % misplaced[1])
            if is_special(line):
                while line.endswith("\\") and index + used < len(lines):
                    line = line[:-1] + lines[index + used]
                    used += 1
                result.append(rewrite(line))
                result.extend([""] * (used - 1))
                index += used
                continue
        state.scan(line)
        result.append(line)
        index += used
    return "\n".join(result)


def is_special(line):
    return bool(COMMAND.match(line) or MAGIC.match(line) or ASSIGNED.match(line) or HELP.match(line))


def rewrite(line):
    """The call that stands for one special line."""
    match = COMMAND.match(line)
    if match:
        indent, mark, command = match.groups()
        return "%sget_ipython().%s(%r)" % (indent, "system" if mark == "!" else "getoutput", command.strip())
    match = MAGIC.match(line)
    if match:
        indent, name, rest = match.groups()
        return "%sget_ipython().run_line_magic(%r, %r)" % (indent, name, (rest or "").strip())
    match = HELP.match(line)
    if match:
        detail = (match[2] or match[5]) == "??"
        return "%sget_ipython().run_line_magic(%r, %r)" % (match[1], "pinfo2" if detail else "pinfo", match[3] or match[4])
    match = ASSIGNED.match(line)
    start, mark, rest = match.groups()
    if mark == "!":
        return "%sget_ipython().getoutput(%r)" % (start, rest.strip())
    name, _, argument = rest.strip().partition(" ")
    return "%sget_ipython().run_line_magic(%r, %r)" % (start, name, argument.strip())


class State:
    """Whether the next line begins a statement: not inside brackets, a long string, or a continued line."""

    def __init__(self):
        self.depth = 0
        self.quote = None
        self.continued = False

    @property
    def at_statement(self):
        return not self.depth and not self.quote and not self.continued

    def scan(self, line):
        self.continued = False
        position = 0
        while position < len(line):
            char = line[position]
            if self.quote:
                if char == "\\":
                    position += 2
                elif line.startswith(self.quote, position):
                    position += len(self.quote)
                    self.quote = None
                else:
                    position += 1
                continue
            if char == "#":
                return
            quote = QUOTE.match(line, position)
            if quote:
                self.quote = quote[0]
                position = quote.end()
                continue
            if char in "([{":
                self.depth += 1
            elif char in ")]}":
                self.depth = max(0, self.depth - 1)
            elif char == "\\" and position == len(line) - 1:
                self.continued = True
            position += 1
        if self.quote and len(self.quote) == 1:
            # a short string ends with its line; a backslash at the end carries it on
            if not line.endswith("\\"):
                self.quote = None
