import importlib.util
import unittest

import support

from rlm.wire import PROTOCOL


def is_running(pid):
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False


class KernelTest(unittest.TestCase):
    def kernel(self, *options):
        kernel = support.KernelProcess(*options)
        self.addCleanup(lambda: kernel.close() if not kernel.wire.closed else None)
        return kernel

    def test_the_greeting_tells_protocol_process_and_version(self):
        kernel = self.kernel()
        hello = kernel.hello
        self.assertEqual((hello["op"], hello["protocol"]), ("hello", PROTOCOL))
        self.assertTrue(is_running(hello["pid"]))
        self.assertNotEqual(hello["pid"], kernel.process.pid)

    def test_a_cell_answers_with_its_output_and_result(self):
        done = self.kernel().run("print('out')\n40 + 2")
        self.assertEqual((done["status"], done["stdout"], done["result"], done["dropped"]), ("ok", "out\n", "42", 0))

    def test_an_answer_reaches_a_request_while_its_cell_runs(self):
        kernel = self.kernel()

        def answer(message):
            if message["op"] == "request":
                kernel.send(op="reply", id=message["id"], ok=True, value=[message["type"], message["payload"]])

        done = kernel.run("import rlm\nawait rlm.host_request('a', {'type': 'b'})", answer)
        self.assertEqual(done["result"], "['a', {'type': 'b'}]")

    def test_an_interrupt_by_message_alone_stops_python_code(self):
        kernel = self.kernel()

        def stop(message):
            if message["op"] == "chunk":
                kernel.send(op="interrupt", cell=1)

        done = kernel.run("print('on')\nwhile True: pass", stop)
        self.assertEqual(done["status"], "interrupted")

    def test_an_interrupt_of_another_cell_is_void(self):
        kernel = self.kernel()
        kernel.run("1")
        kernel.send(op="interrupt", cell=1)
        self.assertEqual(kernel.run("2")["result"], "2")

    def test_an_interrupt_that_overtakes_its_cell_stops_it(self):
        kernel = self.kernel()
        kernel.send(op="interrupt", cell=1)
        self.assertEqual(kernel.run("2")["status"], "interrupted")
        self.assertEqual(kernel.run("3")["result"], "3")

    def test_hanging_up_ends_the_kernel_and_reports_its_jobs(self):
        kernel = self.kernel()
        done = kernel.run("%%bash\nsleep 600 >/dev/null 2>&1 & echo $!")
        job = int(done["stdout"])
        reports = kernel.close()
        self.assertEqual(reports[0]["exit"], 0)
        self.assertIn({"pid": job, "command": "sleep 600"}, reports[1]["jobs"])
        self.assertFalse(is_running(job))
        self.assertFalse(is_running(kernel.hello["pid"]))

    def test_a_death_is_reported_with_its_signal(self):
        kernel = self.kernel()
        with self.assertRaises(EOFError):
            kernel.run("import os\nos.kill(os.getpid(), 9)")
        self.assertEqual(kernel.close()[0], {"exit": None, "signal": "SIGKILL"})

    def test_a_small_limit_cuts_output(self):
        done = self.kernel("--limit=100", "--spill=1000").run("print('x' * 5000)")
        self.assertIn("bytes left out", done["stdout"])
        self.assertEqual(done["dropped"], 5001 - 1000)

    def test_a_command_in_the_background_leaves_no_group_noted_once_it_ended(self):
        kernel = self.kernel()
        kernel.run("!true")
        self.assertEqual(kernel.run("import os\n%cd /\nos.getcwd()")["result"], "'/'")
        self.assertEqual([sorted(report) for report in kernel.close()], [["exit", "signal"]])

    def test_the_descriptors_do_not_grow(self):
        kernel = self.kernel()
        count = "import os\nlen(os.listdir('/proc/self/fd'))"
        kernel.run("!true")
        before = int(kernel.run(count)["result"])
        for _ in range(20):
            kernel.run("!true\nx = !echo 1")
            kernel.run("%%bash\nexit 1")
        self.assertEqual(int(kernel.run(count)["result"]), before)

    def test_a_low_limit_of_descriptors_is_enough(self):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
        try:
            kernel = self.kernel()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        self.assertEqual(kernel.run("x = !echo 1\nx[0]")["result"], "'1'")


@unittest.skipUnless(importlib.util.find_spec("IPython"), "this Python has no IPython")
class IpythonTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kernel = support.KernelProcess()
        cls.addClassCleanup(cls.kernel.close)

    def test_ipython_is_not_loaded_before_a_cell_needs_it(self):
        kernel = support.KernelProcess()
        self.addCleanup(kernel.close)
        self.assertEqual(kernel.run("import sys\n'IPy' + 'thon' in sys.modules")["result"], "False")

    def test_magics_of_ipython_work_on_the_same_namespace(self):
        self.kernel.run("x = 5")
        self.assertIn("Wall time", self.kernel.run("%time y = x + 1")["stdout"])
        self.assertEqual(self.kernel.run("y")["result"], "6")
        self.assertIn("Wall time", self.kernel.run("%%time\nz = y + 1")["stdout"])
        self.assertEqual(self.kernel.run("z")["result"], "7")

    def test_display_of_ipython_sends_bundles(self):
        shown = []
        code = "from IPython.display import HTML, display\ndisplay(HTML('<b>x</b>'))"
        self.kernel.run(code, lambda message: shown.append(message.get("bundle")))
        self.assertEqual([bundle["text/html"] for bundle in shown if bundle], ["<b>x</b>"])

    def test_commands_stay_ours_after_ipython_is_loaded(self):
        self.kernel.run("%time 1")
        self.assertEqual(self.kernel.run("x = !echo a; echo b\nprint(x.n)")["stdout"], "a\nb\n")
        self.assertEqual(self.kernel.run("%%bash\nexit 3")["error"]["name"], "CalledProcessError")

    def test_a_magic_that_nobody_has_is_named(self):
        self.assertIn("%nonesuch", self.kernel.run("%nonesuch")["error"]["value"])

    def test_help_shows_what_ipython_knows(self):
        done = self.kernel.run("def f():\n    'says something'\nf?")
        self.assertIn("says something", done["stdout"])


if __name__ == "__main__":
    unittest.main()
