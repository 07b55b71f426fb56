"""Rich output: `display(...)` and what the last expression of a cell shows."""

import base64
import json

from rlm.keep import plain
from rlm.pretty import cut_middle, text_of

METHODS = (
    ("_repr_png_", "image/png"),
    ("_repr_jpeg_", "image/jpeg"),
    ("_repr_svg_", "image/svg+xml"),
    ("_repr_html_", "text/html"),
    ("_repr_markdown_", "text/markdown"),
    ("_repr_latex_", "text/latex"),
    ("_repr_json_", "application/json"),
)
MAX_BUNDLE_BYTES = 8 << 20
MAX_DISPLAYS = 50
# of all bundles of one cell together
MAX_CELL_BYTES = 12 << 20
# whose text form says it all, and whose HTML form would only cost tokens
TEXT_ONLY = ("pandas", "polars")


def make_bundle(value):
    """All representations of a value by MIME type; `text/plain` is always there."""
    bundle = {}
    if type(value).__module__.partition(".")[0] not in TEXT_ONLY and not isinstance(value, type):
        bundle.update(call_mimebundle(value))
        for method, mime in METHODS:
            if mime not in bundle:
                data = call(value, method)
                if data is not None:
                    bundle[mime] = data
        if "image/png" not in bundle and is_figure(value):
            bundle["image/png"] = draw(value)
    if "text/plain" not in bundle:
        bundle["text/plain"] = text_of(value)
    elif isinstance(bundle["text/plain"], str):
        bundle["text/plain"] = cut_middle(bundle["text/plain"])
    return {mime: encode(data) for mime, data in bundle.items() if data is not None}


def call_mimebundle(value):
    data = call(value, "_repr_mimebundle_")
    if isinstance(data, tuple):
        data = data[0]
    return dict(data) if isinstance(data, dict) else {}


def call(value, method):
    """The representation, None where the value has none. `(data, metadata)` counts as data."""
    found = getattr(type(value), method, None)
    if not callable(found):
        return None
    data = found(value)
    return data[0] if isinstance(data, tuple) and method != "_repr_mimebundle_" else data


def is_figure(value):
    return type(value).__name__ == "Figure" and type(value).__module__ == "matplotlib.figure"


def draw(figure):
    import io

    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", bbox_inches="tight")
    return buffer.getvalue()


def encode(data):
    """JSON for a representation: bytes as base64, text without control characters, values as they are."""
    if isinstance(data, (bytes, bytearray)):
        return base64.b64encode(data).decode()
    if isinstance(data, str):
        return plain(str(data))
    json.dumps(data)
    return data


class Displays:
    """Sends rich output to the host, bounded in number and size."""

    def __init__(self, wire, write_text):
        self.wire = wire
        self.write_text = write_text
        self.begin(None)

    def begin(self, cell):
        """Counts anew."""
        self.cell = cell
        self.count = 0
        self.size = 0
        self.is_full = False

    def show(self, *values, raw=False, **_options):
        """`display(value, ...)`; with `raw=True` each value is a dict by MIME type. Plain values become text."""
        for value in values:
            if self.is_full:
                # said already, and a flood should not cost the making of each
                return
            bundle = {mime: encode(data) for mime, data in value.items()} if raw else make_bundle(value)
            if set(bundle) == {"text/plain"}:
                self.write_text(bundle["text/plain"] + "\n")
            else:
                self.send(bundle)

    def send(self, bundle):
        """Sends one bundle, or says in the text why it was left out."""
        if self.is_full:
            return
        size = sum(len(json.dumps(data)) for data in bundle.values())
        if size > MAX_BUNDLE_BYTES:
            self.write_text("[a display of %d bytes was left out: the limit is %d]\n" % (size, MAX_BUNDLE_BYTES))
        elif self.count == MAX_DISPLAYS or self.size + size > MAX_CELL_BYTES:
            self.is_full = True
            limits = (MAX_DISPLAYS, MAX_CELL_BYTES)
            self.write_text("[further displays were left out: the limits are %d a cell and %d bytes]\n" % limits)
        else:
            self.count += 1
            self.size += size
            self.wire.send({"op": "display", "cell": self.cell, "bundle": bundle})
