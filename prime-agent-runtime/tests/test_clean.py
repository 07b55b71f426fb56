import unittest

import support  # noqa: F401 puts the package on the path

from rlm.clean import HOLD_BYTES, Cleaner, clean

SAMPLES = {
    "plain text stays": (b"abc\ndef\n", b"abc\ndef\n"),
    "Windows line ends become newlines": (b"a\r\nb\r\n", b"a\nb\n"),
    "a progress bar keeps its last state": (b"\r 1%\r 50%\r100%\n", b"100%\n"),
    "a shorter text leaves the rest of a longer one": (b"-----\rab\n", b"ab---\n"),
    "erase to the end": (b"----------\rHello\x1b[K\n", b"Hello\n"),
    "erase with its default spelled out": (b"----------\rHello\x1b[0K\n", b"Hello\n"),
    "erase to the start": (b"abcdef\b\b\x1b[1K\n", b"    ef\n"),
    "erase the whole line": (b"abcdef\r\x1b[2Kxy\n", b"xy\n"),
    "backspace": (b"abc\b\bX\n", b"aXc\n"),
    "backspace at the start of a line": (b"\b\bx\n", b"x\n"),
    "colours": (b"\x1b[1;31mred\x1b[0m\n", b"red\n"),
    "hidden text is shown": (b"\x1b[8mhid\x1b[28m\n", b"hid\n"),
    "a title that ends with BEL": (b"\x1b]0;title\x07x\n", b"x\n"),
    "a link that ends with ST": (b"\x1b]8;;http://a\x1b\\text\x1b]8;;\x1b\\\n", b"text\n"),
    "cursor movement": (b"\x1b[2Aup\x1b[10;20H\n", b"up\n"),
    "a device control string": (b"\x1bPq#0\x1b\\x\n", b"x\n"),
    "a choice of charset": (b"\x1b(Bx\n", b"x\n"),
    "a lone escape": (b"a\x1b\nb\n", b"a\nb\n"),
    "characters of several bytes under a carriage return": ("ééé\rü\n".encode(), "üéé\n".encode()),
    "bytes that are no UTF-8 under a carriage return": (b"\xff\xfe\ra\n", b"a\xfe\n"),
}


class CleanTest(unittest.TestCase):
    def test_each_sample_shows_what_a_terminal_would(self):
        for name, (data, expected) in SAMPLES.items():
            with self.subTest(name):
                self.assertEqual(clean(data), expected)

    def test_the_result_is_the_same_wherever_the_bytes_are_split(self):
        for name, (data, expected) in SAMPLES.items():
            for cut in range(len(data) + 1):
                with self.subTest(name, cut=cut):
                    cleaner = Cleaner()
                    parts = cleaner.feed(data[:cut]) + cleaner.feed(data[cut:]) + cleaner.finish()
                    self.assertEqual(parts, expected)

    def test_hostile_lines_cost_what_they_write(self):
        long = b"a" * 200_000
        for noise in (b"\rb", b"\b", b"\x1b[1K", b"\x1b[2Kx", b"\x1b[K", b"\x1b[1K\rb"):
            with self.subTest(noise):
                # with a cost by the length of the line this would not end in a day
                self.assertLess(len(clean(long + noise * 100_000 + b"\n")), 400_000)

    def test_an_unfinished_line_comes_at_the_end(self):
        cleaner = Cleaner()
        self.assertEqual(cleaner.feed(b"a\nb"), b"a\n")
        self.assertEqual(cleaner.finish(), b"b")
        self.assertEqual(cleaner.finish(), b"")

    def test_an_endless_line_is_not_held_back_for_ever(self):
        cleaner = Cleaner()
        total = 0
        for _ in range(100):
            total += len(cleaner.feed(b"x" * 10_000))
            self.assertLessEqual(len(cleaner.held), HOLD_BYTES)
        self.assertEqual(total + len(cleaner.finish()), 1_000_000)

    def test_an_endless_progress_bar_is_not_held_back_for_ever_and_keeps_its_last_state(self):
        cleaner = Cleaner()
        for number in range(100_000):
            self.assertEqual(cleaner.feed(b"\rstep %d" % number), b"")
            self.assertLessEqual(len(cleaner.held), 2 * HOLD_BYTES)
        self.assertEqual(cleaner.finish(), b"step 99999")


if __name__ == "__main__":
    unittest.main()
