import ast
import unittest

import support  # noqa: F401 puts the package on the path

from rlm.expand import expand
from rlm.magics import split_cell_magic
from rlm.transform import MisplacedMagic, transform

LINES = {
    "!ls -l": "get_ipython().system('ls -l')",
    "  !ls": "  get_ipython().system('ls')",
    "!!ls": "get_ipython().getoutput('ls')",
    "x = !ls": "x = get_ipython().getoutput('ls')",
    "a, b = !ls": "a, b = get_ipython().getoutput('ls')",
    "d['k'] = !ls": "d['k'] = get_ipython().getoutput('ls')",
    "x.y = %pwd": "x.y = get_ipython().run_line_magic('pwd', '')",
    "%cd /tmp": "get_ipython().run_line_magic('cd', '/tmp')",
    "obj?": "get_ipython().run_line_magic('pinfo', 'obj')",
    "obj.method??": "get_ipython().run_line_magic('pinfo2', 'obj.method')",
    "?obj": "get_ipython().run_line_magic('pinfo', 'obj')",
    "!echo 'it''s'": "get_ipython().system(\"echo 'it''s'\")",
}

UNTOUCHED = (
    "x = '''\n!ls\n%cd /\n'''",
    'x = """a\\"""\n!ls\n"""',
    "x = (1\n%2)",
    "x = [\n!ls\n]",
    "x = 5 \\\n%3",
    "y = 'a # not a comment' # '''\nz = 1",
    "if x != 3: pass",
    "x = 1 if y else 'what?'",
    "'text\\\n!ls'",
)


class TransformTest(unittest.TestCase):
    def test_special_lines_become_calls(self):
        for line, expected in LINES.items():
            with self.subTest(line):
                self.assertEqual(transform(line), expected)

    def test_python_stays_python(self):
        for source in UNTOUCHED:
            with self.subTest(source):
                self.assertEqual(transform(source), source)

    def test_every_line_keeps_its_number(self):
        source = "a = 1\n!echo one \\\n  two \\\n  three\nb = 2\nfor i in x:\n    !ls\nc = 3"
        changed = transform(source)
        self.assertEqual(len(changed.split("\n")), len(source.split("\n")))
        self.assertEqual([node.lineno for node in ast.parse(changed).body], [1, 2, 5, 6, 8])

    def test_a_cell_magic_after_the_first_line_is_an_error_that_names_it(self):
        with self.assertRaisesRegex(MisplacedMagic, "%%bash must be the first line"):
            transform("# comment\n%%bash\nls")

    def test_a_cell_magic_splits_into_name_arguments_and_body(self):
        self.assertEqual(split_cell_magic("%%bash -e\nls\n\nls"), ("bash", "-e", "ls\n\nls"))
        self.assertEqual(split_cell_magic("\n%%sh\n  x"), ("sh", "", "  x"))
        self.assertEqual(split_cell_magic("%%bash"), ("bash", "", ""))
        self.assertIsNone(split_cell_magic("x = 1\n%%bash"))


class ExpandTest(unittest.TestCase):
    names = {"n": 3, "name": "bob", "d": {"k": "v"}, "obj": ast}

    def test_values_of_the_namespace_are_put_in(self):
        samples = {
            "echo {n}": "echo 3",
            "echo {n + 1} $name": "echo 4 bob",
            "echo {d['k']}": "echo v",
            "echo {n:03d}": "echo 003",
            "echo {name!r}": "echo 'bob'",
            "echo $name.txt": "echo bob.txt",
            "echo $obj.__name__": "echo ast",
            "echo {{n}}": "echo {n}",
            "echo $$name": "echo $name",
            "echo \"$name\"": 'echo "bob"',
        }
        for command, expected in samples.items():
            with self.subTest(command):
                self.assertEqual(expand(command, self.names), expected)

    def test_what_belongs_to_the_shell_stays(self):
        for command in ("echo $HOME", "echo ${HOME}", "awk '{print $1}'", "echo '$name'", "f() { ls; }", "echo {a,b}", "echo }"):
            with self.subTest(command):
                self.assertEqual(expand(command, self.names), command)


if __name__ == "__main__":
    unittest.main()
