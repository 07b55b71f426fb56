import contextlib
import os
import tempfile
import threading
import unittest

import support  # noqa: F401 puts the package on the path

from rlm.output import BATCH_BYTES, SESSION_BYTES, Output


class FakeWire:
    """Takes messages; `waiting` says how many the host has not read."""

    def __init__(self):
        self.messages = []
        self.waiting = 0

    def send(self, message):
        self.messages.append(message)

    def backlog(self):
        return self.waiting

    def text(self, stream="stdout"):
        return "".join(message["text"] for message in self.messages if message["stream"] == stream)


class OutputTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        before = os.environ.get("TMPDIR")
        os.environ["TMPDIR"] = self.folder.name
        self.addCleanup(lambda: os.environ.pop("TMPDIR") if before is None else os.environ.update(TMPDIR=before))
        self.wire = FakeWire()
        self.noted = []
        self.output = Output(self.wire, threading.RLock(), contextlib.nullcontext(), 1000, 5000, self.noted.append)
        self.output.begin(1)

    def test_a_session_that_keeps_files_gets_the_whole_output_in_its_folder(self):
        kept = os.path.join(self.folder.name, "artifacts", "session")
        os.environ["PRIME_AGENT_ARTIFACTS_DIR"] = kept
        self.addCleanup(os.environ.pop, "PRIME_AGENT_ARTIFACTS_DIR")
        output = Output(self.wire, threading.RLock(), contextlib.nullcontext(), 1000, 5000, self.noted.append)
        output.begin(1)
        self.assertFalse(os.path.exists(kept))
        output.write("stdout", b"line\n" * 800)
        text, _, dropped = output.take()
        (name,) = os.listdir(kept)
        self.assertIn(os.path.join(kept, name), text)
        with open(os.path.join(kept, name), "rb") as file:
            self.assertEqual(file.read(), b"line\n" * 800)
        self.assertEqual((dropped, self.noted), (0, []))
        self.assertEqual([os.stat(path).st_mode & 0o777 for path in (os.path.dirname(kept), kept)], [0o700, 0o700])

    def test_files_of_many_cells_end_where_they_would_fill_the_disk(self):
        self.output.spilled = SESSION_BYTES - 6000
        seen = []
        for _ in range(4):
            self.output.begin(1)
            self.output.write("stdout", b"line\n" * 800)
            text, _, dropped = self.output.take()
            seen.append(("the whole output is in" in text, "1 GB of output in files already" in text, dropped))
        # both halves of 500 bytes are shown
        self.assertEqual(seen, [(True, False, 0)] * 2 + [(False, True, 3000)] * 2)

    def test_live_pieces_together_are_the_output(self):
        for piece in (b"one\n", b"two", b" three\nfo", b"ur"):
            self.output.write("stdout", piece)
            self.output.exclusively(self.output.catch_up)
            self.output.exclusively(self.output.send_live)
        self.assertEqual(self.output.take(), ("one\ntwo three\nfour", "", 0))
        self.assertEqual(self.wire.text(), "one\ntwo three\nfour")

    def test_what_is_written_in_the_middle_of_other_work_waits_in_the_queue(self):
        def busy():
            # as a signal handler that prints while the state is being changed
            self.output.write("stdout", b"x\n" * BATCH_BYTES)
            return self.output.keepers["stdout"].total

        self.assertEqual(self.output.exclusively(busy), 0)
        self.output.exclusively(self.output.catch_up)
        self.assertEqual(self.output.keepers["stdout"].total, 2 * BATCH_BYTES)

    def test_a_host_that_reads_nothing_gets_no_more_live_pieces(self):
        self.wire.waiting = 1000
        self.output.write("stdout", b"line\n" * 100)
        self.output.exclusively(self.output.catch_up)
        self.output.exclusively(self.output.send_live)
        self.assertEqual(self.wire.messages, [])
        self.wire.waiting = 0
        self.output.exclusively(self.output.send_live)
        self.assertEqual(self.wire.text(), "line\n" * 100)

    def test_a_flood_is_shown_live_with_its_start_and_now_and_then_its_newest_part(self):
        for number in range(100_000):
            self.output.write("stdout", b"line %d\n" % number)
        self.output.exclusively(self.output.catch_up)
        self.output.exclusively(self.output.send_live)
        text = self.wire.text()
        self.assertTrue(text.startswith("line 0\nline 1\n"))
        self.assertTrue(text.endswith("line 99999\n"))
        self.assertLess(len(text), 100_000)

    def test_the_folder_for_whole_output_is_private_and_told_to_the_guardian(self):
        self.output.write("stderr", b"e" * 3000)
        _, stderr, dropped = self.output.take()
        (folder,) = self.noted
        self.assertIn(folder, stderr)
        self.assertEqual(os.stat(folder).st_mode & 0o777, 0o700)
        self.assertEqual(dropped, 0)

    def test_without_a_place_for_the_file_the_loss_is_counted(self):
        os.environ["TMPDIR"] = "/not/there"
        self.output.write("stdout", b"x" * 3000)
        stdout, _, dropped = self.output.take()
        self.assertEqual(dropped, 2000)
        self.assertIn("could not be kept whole", stdout)


if __name__ == "__main__":
    unittest.main()
