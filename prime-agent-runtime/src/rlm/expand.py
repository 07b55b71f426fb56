"""Python values in commands: `{expression}` and `$name`, by IPython's rules."""

import re
import string

# a dollar inside single quotes belongs to the shell
DOLLAR = re.compile(r"(.*?)\$(\$?[\w.]+)(?=([^']*'[^']*')*[^']*$)", re.DOTALL)


class Fields(string.Formatter):
    """Evaluates each field as an expression."""

    def __init__(self, names):
        self.names = names

    def get_field(self, field_name, args, kwargs):
        return eval(field_name, dict(self.names)), field_name

    def vformat(self, format_string, args, kwargs):
        parts = []
        for literal, field, spec, conversion in self.parse(format_string):
            parts.append(self.expand_dollars(literal))
            if field is not None:
                value, _ = self.get_field(field, args, kwargs)
                parts.append(self.format_field(self.convert_field(value, conversion), spec or ""))
        return "".join(parts)

    def expand_dollars(self, text):
        def replace(match):
            before, name = match[1], match[2]
            if name.startswith("$"):
                return before + name
            head, *rest = name.split(".")
            if head not in self.names:
                return match[0]
            value = self.names[head]
            shown = head
            for part in rest:
                if not part.isidentifier() or not hasattr(value, part):
                    break
                value = getattr(value, part)
                shown += "." + part
            return before + str(value) + name[len(shown) :]

        return DOLLAR.sub(replace, text)


def expand(command, names):
    """The command with values put in; unchanged when any of its braces is not Python of this namespace."""
    try:
        return Fields(names).vformat(command, (), {})
    except Exception:
        # braces of the shell or of awk, not ours
        return command
