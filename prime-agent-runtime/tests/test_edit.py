import asyncio
import builtins
import os
import stat
import subprocess
import sys
import tempfile
import tracemalloc
import unittest
from pathlib import Path

SKILL = Path(__file__).resolve().parents[2] / "packages/prime-agent/skills/edit"
sys.path.insert(0, str(SKILL / "src"))

import edit  # noqa: E402
from edit.change import Change  # noqa: E402
from edit.diff import MIME, make_diff  # noqa: E402


class EditTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = Path(self.folder.name, "a.txt")
        self.shown = []
        builtins.display = lambda bundle, raw: self.shown.append(bundle)
        self.addCleanup(lambda: delattr(builtins, "display"))

    def change(self, before, old, new):
        self.file.write_bytes(before)
        asyncio.run(edit.run(str(self.file), old, new))
        return self.file.read_bytes()

    def refusal(self, before, old, new):
        with self.assertRaises(ValueError) as caught:
            self.change(before, old, new)
        self.assertEqual(self.file.read_bytes(), before)
        return str(caught.exception)

    def test_everything_else_keeps_its_bytes(self):
        for name, before, old, new, after in (
            ("no newline at the end", b"a\nb", "b", "c", b"a\nc"),
            ("a byte order mark", b"\xef\xbb\xbfa\n", "a", "b", b"\xef\xbb\xbfb\n"),
            ("bytes that are no UTF-8", b"\xff\xfe a \x00\n", "a", "\u00e9", b"\xff\xfe \xc3\xa9 \x00\n"),
            ("CRLF, several lines", b"a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", b"x\r\ny\r\nz\r\nc\r\n"),
            ("CRLF, lines that come in", b"a\r\nb\r\n", "a", "x\ny", b"x\r\ny\r\nb\r\n"),
            ("CRLF as it is", b"a\r\nb\r\n", "a\r\nb", "c\r\nd", b"c\r\nd\r\n"),
            ("both endings", b"a\nb\r\nc\r\n", "b\nc", "x\ny", b"a\nx\r\ny\r\n"),
            ("U+2028 is no line", "a\u2028b\n".encode(), "b", "c", "a\u2028c\n".encode()),
            ("the whole file", b"a", "a", "", b""),
        ):
            with self.subTest(name):
                self.assertEqual(self.change(before, old, new), after)

    def test_bytes_that_came_in_as_surrogates_go_out_as_they_were(self):
        self.assertEqual(self.change(b"\xff=1\n", b"\xff=".decode("utf-8", "surrogateescape"), "x="), b"x=1\n")

    def test_text_that_does_not_occur_once_is_refused_and_nothing_is_written(self):
        self.assertIn("does not occur in", self.refusal(b"a\n", "b", "c"))
        self.assertIn("begins in line 2", self.refusal(b"x\n  a  b\n", "a b", "c"))
        self.assertRegex(self.refusal(b"a\nb\na\n", "a", "c"), r"occurs 2 times in .* \(lines 1, 3\)")
        self.assertIn("occurs 2 times", self.refusal(b"aaa\n", "aa", "c"))
        self.assertRegex(self.refusal(b"\na a\na\na a\n", "a", "c"), r"occurs 5 times in .* \(lines 2, 3, 4\)")
        self.assertRegex(self.refusal(b"a a a a a a a\n", "a", "c"), r"occurs 7 times in .* \(line 1\)")
        self.assertRegex(self.refusal(b"a\n" * 6, "a", "c"), r"occurs 6 times in .* \(lines 1, 2, 3, 4, 5, \.\.\.\)")
        self.assertIn("old_str is empty", self.refusal(b"a\n", "", "c"))
        self.assertIn("nothing to change", self.refusal(b"a\n", "a", "a"))
        self.assertEqual(self.shown, [])

    def test_a_file_that_is_not_there_is_no_file_to_edit(self):
        with self.assertRaises(FileNotFoundError):
            asyncio.run(edit.run(self.folder.name + "/none", "a", "b"))
        with self.assertRaises(ValueError):
            asyncio.run(edit.run(self.folder.name, "a", "b"))

    def test_a_path_object_is_a_path(self):
        self.file.write_text("a")
        self.assertEqual(asyncio.run(edit.run(self.file, "a", "b")), "Edited %s" % self.file)
        self.assertEqual(self.file.read_text(), "b")

    def test_the_longest_name_is_one_that_can_be_edited(self):
        self.file = Path(self.folder.name, "\u6f22" * 85)
        self.assertEqual(self.change(b"a", "a", "b"), b"b")

    def test_a_huge_file_is_refused_before_it_is_read(self):
        self.file.touch()
        os.truncate(self.file, 1 << 40)
        with self.assertRaisesRegex(ValueError, "too many to edit"):
            asyncio.run(edit.run(str(self.file), "a", "b"))

    def test_what_repeats_itself_costs_no_time_without_end(self):
        self.assertIn("occurs 100 times or more", self.refusal(b"a" * 2_000_000, "a" * 20_000, "b"))
        self.assertIn("does not occur", self.refusal(b"x " * 1_000_000, "x " * 10_000 + "y", "b"))

    def test_mode_and_links_survive(self):
        self.file.write_text("a")
        self.file.chmod(0o754)
        link = Path(self.folder.name, "link")
        link.symlink_to("a.txt")
        asyncio.run(edit.run(str(link), "a", "b"))
        self.assertTrue(link.is_symlink())
        self.assertEqual(self.file.read_text(), "b")
        self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o754)

    def test_the_file_is_replaced_as_a_whole_and_no_draft_stays(self):
        self.file.write_text("a")
        with open(self.file) as before:
            asyncio.run(edit.run(str(self.file), "a", "b"))
            self.assertEqual(before.read(), "a")
        self.assertEqual(os.listdir(self.folder.name), ["a.txt"])

    def test_a_leading_tilde_is_the_home_folder(self):
        self.file.write_text("a")
        home = os.environ.get("HOME")
        os.environ["HOME"] = self.folder.name
        try:
            self.assertEqual(asyncio.run(edit.run("~/a.txt", "a", "b")), "Edited ~/a.txt")
        finally:
            os.environ["HOME"] = home or ""
        self.assertEqual(self.file.read_text(), "b")

    def diff(self, before, old, new):
        self.change(before, old, new)
        bundle = self.shown.pop()
        self.assertEqual(bundle["text/plain"], "")
        return bundle[MIME]

    def test_the_diff_shows_the_lines_that_changed_and_three_around(self):
        shown = self.diff(b"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "5\n6", "x")
        self.assertEqual(
            shown,
            {
                "path": os.path.realpath(self.file),
                "diff": "--- {0}\n+++ {0}\n@@ -2,8 +2,7 @@\n 2\n 3\n 4\n-5\n-6\n+x\n 7\n 8\n 9\n".format(
                    os.path.realpath(self.file)
                ),
                "added": 1,
                "removed": 2,
                "truncated": False,
            },
        )

    def test_every_diff_makes_the_new_file_of_the_old_one(self):
        for before, old, new in (
            (b"a\nb\nc\n", "b\n", ""),
            (b"a\nb\nc\n", "b\n", "x"),
            (b"a\nb\nc\n", "\nb", ""),
            (b"a\nb", "b", "c\nd"),
            (b"a\nb", "b", "c\n"),
            (b"a\n", "a", "a\nb"),
            (b"a", "a", ""),
            (b"a\nb\nc\nd\ne\nf\ng", "d", "D"),
            (b"a\nb\n", "a\nb\n", "z"),
        ):
            with self.subTest(before=before, old=old, new=new):
                shown = self.diff(before, old, new)
                after = self.file.read_bytes()
                self.file.write_bytes(before)
                patched = subprocess.run(
                    ["git", "apply", "--unsafe-paths", "--unidiff-zero", "-p1", "-"],
                    input="--- a/a.txt\n+++ b/a.txt\n" + shown["diff"].split("\n", 2)[2],
                    cwd=self.folder.name,
                    capture_output=True,
                    text=True,
                )
                self.assertEqual((patched.returncode, patched.stderr), (0, ""))
                self.assertEqual(self.file.read_bytes() if self.file.exists() else b"", after)

    def test_a_long_diff_is_cut_and_says_so(self):
        shown = self.diff(b"a\n", "a", "x\n" * 100_000)
        self.assertTrue(shown["truncated"])
        self.assertLess(len(shown["diff"]), 70_000)

    def test_the_diff_of_a_long_file_needs_little_more_memory_than_the_file(self):
        for before in (b"\n" * 20_000_000 + b"END", b"a" * 20_000_000 + b"END"):
            tracemalloc.start()
            self.addCleanup(tracemalloc.stop)
            make_diff(Change("a.txt", before, 20_000_000, b"END", b"end"))
            self.assertLess(tracemalloc.get_traced_memory()[1], 150_000_000)
            tracemalloc.stop()

    def test_the_command_edits_and_says_in_one_line_what_is_wrong(self):
        self.file.write_text("a")

        def run(*words):
            environment = {**os.environ, "PRIME_AGENT_SKILL_PYTHON": sys.executable}
            ended = subprocess.run([SKILL / "bin/edit", *words], capture_output=True, text=True, cwd=self.folder.name, env=environment)
            return ended.returncode, ended.stdout, ended.stderr

        self.assertEqual(run("--path", "a.txt", "--old-str", "a", "--new-str", "b c"), (0, "Edited a.txt\n", ""))
        self.assertEqual(self.file.read_text(), "b c")
        code, out, err = run("--path", "a.txt", "--old-str", "a", "--new-str", "b")
        self.assertEqual((code, out), (1, ""))
        self.assertRegex(err, r"^edit: old_str does not occur in a\.txt: [^\n]*\n$")
        self.assertRegex(run("--path", "none", "--old-str", "a", "--new-str", "b")[2], r"^edit: .*none[^\n]*\n$")


if __name__ == "__main__":
    unittest.main()
