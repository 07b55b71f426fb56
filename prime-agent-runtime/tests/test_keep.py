import os
import tempfile
import unittest

import support  # noqa: F401 puts the package on the path

from rlm.keep import Keeper, show


class KeepTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.opened = []

    def open_spill(self, name):
        path = os.path.join(self.folder.name, name)
        self.opened.append(path)
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), path

    def keeper(self, limit=100, spill_limit=10_000):
        return Keeper("out", limit, spill_limit, self.open_spill)

    def test_what_fits_is_whole_and_needs_no_file(self):
        keeper = self.keeper()
        keeper.add(b"x" * 40)
        keeper.add(b"y" * 60)
        self.assertEqual(keeper.take(), ("x" * 40 + "y" * 60, 0))
        self.assertEqual(self.opened, [])

    def test_one_byte_more_cuts_the_middle_and_keeps_the_whole_in_the_file(self):
        for pieces in ([b"a" * 50 + b"b" + b"c" * 50], [b"a" * 50, b"b", b"c" * 50], [b"a" * 50 + b"b" + b"c" * 49, b"c"]):
            with self.subTest(pieces=[len(piece) for piece in pieces]):
                keeper = self.keeper()
                for piece in pieces:
                    keeper.add(piece)
                text, dropped = keeper.take()
                self.assertRegex(text, r"^a{50}\n\[\.\.\. 1 bytes left out; the whole output is in .*\]\nc{50}$")
                self.assertEqual(dropped, 0)
                with open(self.opened[-1], "rb") as file:
                    self.assertEqual(file.read(), b"".join(pieces))

    def test_any_split_gives_the_same_file(self):
        data = bytes(range(256)) * 8
        for size in (1, 7, 49, 50, 51, 100, 101, 2048):
            with self.subTest(size=size):
                keeper = self.keeper()
                for start in range(0, len(data), size):
                    keeper.add(data[start : start + size])
                _, dropped = keeper.take()
                self.assertEqual(dropped, 0)
                with open(self.opened[-1], "rb") as file:
                    self.assertEqual(file.read(), data)

    def test_what_the_file_does_not_hold_is_counted(self):
        keeper = self.keeper(spill_limit=300)
        for _ in range(10):
            keeper.add(b"z" * 100)
        text, dropped = keeper.take()
        self.assertEqual(dropped, 700)
        self.assertIn("its first 300 bytes are in", text)

    def test_without_a_file_the_loss_is_counted_and_its_reason_is_said(self):
        def fail(_name):
            raise OSError(28, "No space left on device")

        keeper = Keeper("out", 100, 1000, fail)
        keeper.add(b"z" * 500)
        text, dropped = keeper.take()
        self.assertEqual(dropped, 400)
        self.assertIn("No space left on device", text)

    def test_taking_starts_anew(self):
        keeper = self.keeper()
        keeper.add(b"z" * 500)
        keeper.take()
        keeper.add(b"new")
        self.assertEqual(keeper.take(), ("new", 0))

    def test_a_text_that_is_cut_inside_a_character_starts_at_the_next_one(self):
        self.assertEqual(show("é".encode()[1:] + b"abc"), "abc")

    def test_control_characters_are_replaced_and_tabs_stay(self):
        self.assertEqual(show(b"a\0b\tc\x07\x7f\n"), "a\ufffdb\tc\ufffd\ufffd\n")


if __name__ == "__main__":
    unittest.main()
