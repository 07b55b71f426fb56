"""What people see of an edit."""

MIME = "application/vnd.prime-agent.diff+json"
CONTEXT = 3
# of the text of a diff; what is longer is cut
MAX_CHARS = 65_536


def make_diff(change):
    """`path`, a unified `diff`, `added` and `removed` lines, and whether the diff was `truncated`."""
    data = change.before
    first, last = find_lines(change)
    end = change.start + len(change.old)
    old = data[first:last]
    new = data[first : change.start] + change.new + data[end:last]
    above = b"\n".join(data[:first].rsplit(b"\n", CONTEXT + 1)[-CONTEXT - 1 :])
    below = data[last : find_context_end(data, last)]
    around = count(above) + count(below)
    begin = data.count(b"\n", 0, first) + 1 - count(above)
    head = "--- %s\n+++ %s\n@@ -%d,%d +%d,%d @@\n" % (
        change.path,
        change.path,
        begin,
        around + count(old),
        begin,
        around + count(new),
    )
    text = head + mark(" ", above) + mark("-", old) + mark("+", new) + mark(" ", below)
    return {
        "path": change.path,
        "diff": text[:MAX_CHARS],
        "added": count(new),
        "removed": count(old),
        "truncated": len(text) > MAX_CHARS,
    }


def find_lines(change):
    """Where the whole lines begin and end that the change touches."""
    data, end = change.before, change.start + len(change.old)
    first = data.rfind(b"\n", 0, change.start) + 1
    last = line_end(data, end - 1)
    removes_lines = not change.new and first == change.start
    if last == end and not change.new.endswith(b"\n") and not removes_lines:
        # the next line moves up
        last = line_end(data, end)
    return first, last


def find_context_end(data, place):
    """Where the context below a change ends that ends at `place`."""
    for _ in range(CONTEXT):
        place = line_end(data, place)
    return place


def line_end(data, place):
    at = data.find(b"\n", place)
    return len(data) if at < 0 else at + 1


def count(text):
    return text.count(b"\n") + (not text.endswith(b"\n") and text != b"")


def mark(sign, text):
    """Each line with its sign in front."""
    if not text:
        return ""
    # what is longer is cut anyway, and a character has up to four bytes
    lines = text[: 4 * MAX_CHARS].decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    tail = lines.pop()
    marked = "".join("%s%s\n" % (sign, line) for line in lines)
    return marked + ("%s%s\n\\ No newline at end of file\n" % (sign, tail) if tail else "")
