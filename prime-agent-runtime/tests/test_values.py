import sys
import types
import unittest

import support  # noqa: F401 puts the package on the path

from rlm.display import make_bundle
from rlm.pretty import MAX_CHARS, pretty, text_of
from rlm.trace import MAX_DEPTH, describe


class PrettyTest(unittest.TestCase):
    def test_short_values_are_their_repr(self):
        for value in (1, "a", [1, 2], (1,), {1: 2}, {3, 1}, frozenset([1]), [], {}, set(), None, 1.5, b"x", range(3)):
            with self.subTest(value):
                self.assertEqual(pretty(value), repr(value))

    def test_long_values_evaluate_to_themselves(self):
        for value in ({"key%d" % i: list(range(20)) for i in range(20)}, [("x" * 30, {"a": (1,)})] * 5):
            with self.subTest(value):
                text = pretty(value)
                self.assertIn("\n", text)
                self.assertEqual(eval(text), value)

    def test_a_huge_container_is_bounded(self):
        for value in (list(range(10**6)), {i: i for i in range(10**5)}, [[list(range(900))] * 900] * 900):
            self.assertLess(len(pretty(value)), 3 * MAX_CHARS)

    def test_a_container_in_itself_ends(self):
        value = {}
        value["self"] = value
        self.assertEqual(pretty(value), "{'self': {...}}")

    def test_subclasses_keep_their_own_repr(self):
        class Mine(list):
            def __repr__(self):
                return "mine"

        self.assertEqual(pretty([Mine([1])]), "[mine]")

    def test_a_pretty_method_of_ipython_is_used_where_there_is_no_repr(self):
        class Thing:
            def _repr_pretty_(self, printer, cycle):
                printer.text("a thing")

        self.assertEqual(text_of(Thing()), "a thing")


class DisplayTest(unittest.TestCase):
    def test_a_class_itself_is_not_asked_for_its_rich_forms(self):
        class Rich:
            def _repr_html_(self):
                return "<b>"

        self.assertEqual(list(make_bundle(Rich)), ["text/plain"])
        self.assertEqual(set(make_bundle(Rich())), {"text/plain", "text/html"})

    def test_a_form_that_gives_none_is_left_out(self):
        class Bare:
            def _repr_png_(self):
                return None

        self.assertEqual(list(make_bundle(Bare())), ["text/plain"])

    def test_a_form_with_metadata_counts_by_its_data(self):
        class Tuple:
            def _repr_png_(self):
                return b"png", {"width": 3}

        self.assertEqual(make_bundle(Tuple())["image/png"], "cG5n")


class TraceTest(unittest.TestCase):
    def raised(self, action):
        try:
            action()
        except BaseException as error:
            return describe(error)
        raise AssertionError("nothing was raised")

    def test_the_message_is_bounded(self):
        def action():
            raise ValueError("x" * 10**6)

        self.assertLess(len(self.raised(action)["value"]), 20_000)

    def test_only_so_many_frames_of_a_deep_traceback_are_read(self):
        link = None
        for _ in range(5000):
            link = types.TracebackType(link, sys._getframe(), 0, 1)
        error = ValueError("deep").with_traceback(link)
        lines = describe(error)["traceback"]
        self.assertRegex(lines[1], r"\[4\d+ frames in the middle are left out\]")
        depth, link = 0, error.__traceback__
        while link is not None:
            depth, link = depth + 1, link.tb_next
        self.assertEqual(depth, MAX_DEPTH)

    def test_the_last_line_is_the_error(self):
        self.assertEqual(self.raised(lambda: 1 / 0)["traceback"][-1], "ZeroDivisionError: division by zero")

    def test_frames_of_the_package_are_left_out(self):
        from rlm.host import host_request_sync

        report = self.raised(lambda: host_request_sync("x"))
        self.assertEqual(report["name"], "HostError")
        self.assertNotIn("host.py", "\n".join(report["traceback"]))


if __name__ == "__main__":
    unittest.main()
