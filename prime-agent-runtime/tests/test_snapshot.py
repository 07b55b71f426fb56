import json
import linecache
import os
import pickle
import stat
import sys
import tempfile
import types
import unittest

import support  # noqa: F401  (puts the package on the path)

from rlm.namespace import Names
from rlm.snapshot import copy, file, place, read, saver, sources, write

LIMITS = {"variable": 1 << 20, "total": 4 << 20, "count": 1000, "seconds": 60, "variableSeconds": 30}


class SnapshotTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "kernel-state")
        self.main = types.ModuleType("__main__")
        before = sys.modules["__main__"]
        sys.modules["__main__"] = self.main
        self.addCleanup(sys.modules.__setitem__, "__main__", before)
        cwd = os.getcwd()
        self.addCleanup(os.chdir, cwd)
        self.cells = 0

    def run_cell(self, code):
        self.cells += 1
        name = "<cell %d>" % (self.cells + 5000)
        sources.remember(code, name)
        self.addCleanup(linecache.cache.pop, name, None)
        exec(compile(code, name, "exec"), self.main.__dict__)

    def names(self):
        return [name for name in self.main.__dict__ if not name.startswith("__")]

    def save(self, carried=(), limits=LIMITS):
        order = {"path": self.path, "cwd": "/home/user", "limits": limits}
        return write.write(self.main.__dict__, self.names(), list(carried), order, place.Place())

    def restore(self):
        """Into an empty namespace; returns it and the answer."""
        self.main.__dict__.clear()
        self.main.__dict__["__name__"] = "__main__"
        answer = read.restore(self.main.__dict__, self.path, "/home/user")
        return self.main.__dict__, answer

    def edit_table(self, change):
        """Writes the file anew with another table."""
        reader = file.Reader(self.path)
        table = reader.table
        data = reader.read_at(0, reader.size)
        reader.close()
        change(table)
        text = json.dumps(table).encode()
        length = file.END.unpack(data[-file.END.size :])[0]
        body = data[: -file.END.size - length]
        with open(self.path, "wb") as out:
            out.write(body + text + file.END.pack(len(text), file.zlib.crc32(text), file.WORD))

    def test_a_report_that_the_host_would_not_take_is_answered_all_the_same(self):
        sent = []

        def send(message):
            if "saved" in message:
                raise ValueError("this has 20 MB")
            sent.append(message)

        copy.Snapshots(None, send, None).answer({"id": 7}, {"saved": ["a"], "unsaved": []})
        self.assertEqual(sent, [{"op": "answer", "id": 7, "problem": "the report is too long: this has 20 MB"}])

    def test_an_answer_that_the_copy_could_not_finish_is_a_problem_and_no_silence(self):
        sent = []
        read, send = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.write(send, b'{"saved": ["a"')
            os._exit(0)
        os.close(send)
        snapshots = copy.Snapshots(None, sent.append, lambda *_: None)
        snapshots.wait({"id": 7, "limits": LIMITS}, pid, read, lambda: None)
        self.assertEqual(sent, [{"op": "answer", "id": 7, "problem": "the copy of the kernel that saves them ended"}])

    def test_only_so_many_variables_that_are_not_saved_are_told(self):
        self.run_cell("for i in range(3000): globals()['n%d' % i] = i\nbad = (i for i in 'a')")
        report = self.save(limits={**LIMITS, "count": 1})
        self.assertEqual((report["saved"], len(report["unsaved"])), (["i"], write.MAX_TOLD))
        self.assertEqual(len(self.restore()[1]["unsaved"]), write.MAX_TOLD)

    def test_definitions_come_back_from_the_text_of_their_cells(self):
        self.run_cell(
            "import functools\n"
            "def deco(f):\n    @functools.wraps(f)\n    def inner(*a): return f(*a) + 1\n    return inner\n"
            "a = 1; f = lambda v: v * 2; b = 2\n"
            "@deco\ndef g(x):\n    '''text\nat the margin'''\n    return x\n"
            "try:\n    class Späß:\n        size = 3\n        def get(self): return self.size\n"
            "finally:\n    pass\n"
        )
        self.run_cell("def deco2(x): return x\nalias = g")
        report = self.save()
        self.assertEqual(report["unsaved"], [])
        space, answer = self.restore()
        self.assertEqual(answer["lost"], [])
        self.assertEqual((space["f"](4), space["g"](1), space["Späß"]().get()), (8, 2, 3))
        self.assertIs(space["alias"], space["g"])
        self.assertEqual(self.save()["unsaved"], [])

    def test_the_newest_definition_of_a_name_counts(self):
        self.run_cell("class C:\n    n = 1")
        self.run_cell("class C:\n    n = 2\nc = C()")
        self.save()
        space, _ = self.restore()
        self.assertEqual((space["C"].n, type(space["c"])), (2, space["C"]))

    def test_a_call_that_could_do_anything_is_not_made_again(self):
        self.run_cell("made = []\ndef build():\n    made.append(1)\n    return type('Built', (), {})\nBuilt = build()")
        self.save()
        space, _ = self.restore()
        self.assertEqual(space["made"], [1])

    def test_a_definition_without_a_text_is_named(self):
        self.run_cell("exec('def hidden(): pass')")
        self.run_cell("x = 1")
        one = saver.Saver(None, self.main.__dict__, {}, set(), LIMITS)
        one.has_dill = False
        with self.assertRaisesRegex(saver.Unsaved, "source is not known"):
            one.describe("hidden", self.main.__dict__["hidden"])

    def test_a_member_of_an_enumeration_is_no_mere_name(self):
        self.run_cell("import enum\nclass Color(enum.Enum):\n    RED = 1\nred = Color.RED")
        self.assertEqual(self.save()["unsaved"], [])
        space, _ = self.restore()
        self.assertIs(space["red"], space["Color"].RED)

    def test_what_dill_saved_needs_the_same_python_and_the_rest_does_not(self):
        self.run_cell("x = 1\ny = [2]\ndef f(): return 3")
        self.save()

        def age(table):
            table["python"] = [3, 1]
            for record in table["records"]:
                if record["name"] == "y":
                    record["how"] = "dill"

        self.edit_table(age)
        space, answer = self.restore()
        here = "%d.%d" % sys.version_info[:2]
        why = "RuntimeError: it was saved by Python 3.1 and this is %s" % here
        self.assertEqual(answer["lost"], [{"name": "y", "why": why}])
        self.assertEqual((space["x"], space["f"]()), (1, 3))

    def test_what_needs_something_later_is_tried_again(self):
        self.run_cell("class Base: pass\nclass Zed(Base): pass\nlimit = 5\ndef f(n=limit): return n")
        self.save()
        self.edit_table(lambda table: table["records"].reverse())
        space, answer = self.restore()
        self.assertEqual((answer["lost"], space["f"](), space["Zed"].__base__), ([], 5, space["Base"]))

    def test_a_table_that_lacks_something_is_a_problem_and_no_fault(self):
        self.run_cell("x = 1")
        self.save()
        self.edit_table(lambda table: table["records"].append({"name": "z", "how": "pickle"}))
        space, answer = self.restore()
        self.assertEqual((space["x"], [each["name"] for each in answer["lost"]]), (1, ["z"]))

    def test_every_cut_of_a_file_is_seen(self):
        self.run_cell("x = 'text' * 20\ny = 2")
        self.save()
        with open(self.path, "rb") as whole:
            data = whole.read()
        for size in range(len(data)):
            with open(self.path, "wb") as out:
                out.write(data[:size])
            os.chmod(self.path, 0o600)
            with self.assertRaises(file.Unreadable):
                file.Reader(self.path)

    def test_every_changed_byte_is_seen(self):
        self.run_cell("x = 'text'")
        self.save()
        with open(self.path, "rb") as whole:
            data = whole.read()
        for place in range(len(data)):
            with open(self.path, "wb") as out:
                out.write(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
            _, answer = self.restore()
            self.assertTrue("problem" in answer or answer["lost"], place)

    def test_a_file_of_somebody_else_is_refused(self):
        owner = os.stat_result((stat.S_IFREG | 0o600, 0, 0, 1, os.geteuid() + 1, 0, 0, 0, 0, 0))
        with self.assertRaisesRegex(file.Unreadable, "another user"):
            file.check_owner(owner, stat.S_ISREG, 0o077, "it")

    def test_a_file_left_by_a_writer_that_was_killed_is_no_hindrance(self):
        with open(self.path + ".new", "w") as left:
            left.write("half")
        self.run_cell("x = 1")
        self.save()
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["kernel-state"])

    def test_a_variable_that_was_lost_before_is_carried_on_until_its_name_is_bound(self):
        self.run_cell("x = 1\ny = 2")
        self.save()
        del self.main.x
        self.assertEqual(self.save(carried=["x"])["saved"], ["y", "x"])
        space, _ = self.restore()
        self.assertEqual((space["x"], space["y"]), (1, 2))
        self.main.x = 5
        self.assertEqual(sorted(self.save(carried=["x"])["saved"]), ["x", "y"])
        self.assertEqual(self.restore()[0]["x"], 5)

    def test_without_time_left_the_rest_is_named(self):
        self.run_cell("x = 1\ny = 2")
        report = self.save(limits={**LIMITS, "seconds": 0})
        self.assertEqual({each["why"] for each in report["unsaved"]}, {"there was no time left"})


class KernelTest(unittest.TestCase):
    def test_a_low_limit_of_descriptors_is_enough_to_save(self):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
        try:
            kernel = support.KernelProcess()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        self.addCleanup(kernel.close)
        kernel.run("x = 1")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "kernel-state")
            kernel.send(op="save", id=1, path=path, cwd="/", limits=LIMITS)
            answer = kernel.receive()
        self.assertEqual((answer.get("problem"), answer["saved"]), (None, ["x"]))

    def test_a_save_that_comes_while_a_cell_runs_is_refused(self):
        kernel = support.KernelProcess()
        self.addCleanup(kernel.close)

        def answer(message):
            seen.append(message)
            if message["op"] == "request":
                kernel.send(op="save", id=7, path="/nowhere", cwd="/", limits=LIMITS)
            elif message["op"] == "answer":
                kernel.send(op="reply", id=1, ok=True, value=None)

        seen = []
        kernel.run("import rlm\nawait rlm.host_request('wait')", answer)
        self.assertIn({"op": "answer", "id": 7, "busy": True}, seen)


class NamesTest(unittest.TestCase):
    def test_only_what_cells_bound_counts(self):
        given = object()
        space = {"rlm": given, "kept": given}
        names = Names(space)
        space.update({"x": 1, "_own": 2, "_": 3, "_i12": 4, "Out": {}, "__name__": "n", "not a name": 5, "rlm": "mine"})
        self.assertEqual(names.of_user(), ["rlm", "x", "_own"])

    def test_names_are_told_when_they_change(self):
        space = {}
        names = Names(space)
        self.assertEqual(names.news(), {})
        space["x"] = 1
        self.assertEqual(names.news(), {"names": ("x",)})
        space["x"] = 2
        self.assertEqual(names.news(), {})
        del space["x"]
        self.assertEqual(names.news(), {"names": ()})


if __name__ == "__main__":
    unittest.main()
