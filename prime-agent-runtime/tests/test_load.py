import os
import sys
import tempfile
import unittest

import support  # noqa: F401 puts the package on the path

from rlm.jupyter.load import load_sparingly


class LoadTest(unittest.TestCase):
    def test_what_cannot_be_imported_sparingly_is_imported_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "needs_part.py"), "w") as file:
                file.write("part = 1\n")
            with open(os.path.join(folder, "needs_jedi.py"), "w") as file:
                file.write("import needs_part\nimport jedi\n")
            with open(os.path.join(folder, "jedi.py"), "w") as file:
                file.write("value = 2\n")
            sys.path.insert(0, folder)
            try:
                load_sparingly("needs_jedi")
                self.assertEqual(sys.modules["needs_jedi"].jedi.value, 2)
            finally:
                sys.path.remove(folder)
                for name in ("needs_jedi", "needs_part", "jedi"):
                    sys.modules.pop(name, None)

    def test_what_is_missing_is_named(self):
        with self.assertRaisesRegex(ModuleNotFoundError, "not_there_at_all"):
            load_sparingly("not_there_at_all")


if __name__ == "__main__":
    unittest.main()
