import os
import sys
import tempfile
import threading
import types
import unittest

import support  # noqa: F401 puts the package on the path

from rlm.jupyter.deferred import Deferred, Finder


class DeferredTest(unittest.TestCase):
    """Each test writes a module that notes when its code runs."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        sys.path.insert(0, self.folder.name)
        self.known = set(sys.modules)
        sys.late_loads = []

    def tearDown(self):
        sys.path.remove(self.folder.name)
        for name in set(sys.modules) - self.known:
            del sys.modules[name]
        self.folder.cleanup()
        del sys.late_loads

    def write(self, name, code):
        path = os.path.join(self.folder.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write("import sys\nsys.late_loads.append(__name__)\n" + code)

    def defer(self, names, code):
        """Runs an import while `names` are deferred."""
        finder = Finder(names)
        sys.meta_path.insert(0, finder)
        scope = {}
        try:
            exec(code, scope)
        finally:
            sys.meta_path.remove(finder)
            finder.release()
        return scope

    def test_the_code_of_a_module_runs_at_its_first_use_and_once(self):
        self.write("late.py", "value = 7\n")
        late = self.defer({"late": ()}, "import late")["late"]
        self.assertEqual(sys.late_loads, [])
        self.assertEqual([late.value, late.value, sys.late_loads], [7, 7, ["late"]])
        self.assertIs(type(late), types.ModuleType)
        self.assertIs(sys.modules["late"], late)

    def test_a_name_that_was_imported_to_be_called_calls_the_real_one(self):
        self.write("late.py", "def double(x): return 2 * x\n")
        double = self.defer({"late": ("double",)}, "from late import double")["double"]
        self.assertEqual(sys.late_loads, [])
        self.assertEqual((double(4), double(5), sys.late_loads), (8, 10, ["late"]))

    def test_whoever_imports_such_a_name_afterwards_gets_the_real_one(self):
        self.write("late.py", "class Real: pass\n")
        stand_in = self.defer({"late": ("Real",)}, "from late import Real")["Real"]
        from late import Real

        self.assertIsInstance(stand_in(), Real)
        self.assertEqual(Real.__module__, "late")

    def test_modules_of_a_package_are_imported_without_it(self):
        self.write("late/__init__.py", "from late.part import value\n")
        self.write("late/part.py", "value = 1\n")
        scope = self.defer({"late": ()}, "from late.part import value\nimport late")
        self.assertEqual(sys.late_loads, ["late.part"])
        self.assertIs(scope["late"].part, sys.modules["late.part"])
        self.assertEqual(type(scope["late"]), Deferred)

    def test_modules_of_a_package_may_ask_it_for_its_version(self):
        self.write("late/__init__.py", "from late._version import protocol_version\nfrom late.part import seen\n")
        self.write("late/_version.py", "protocol_version = '5.3'\n")
        self.write("late/part.py", "from late import protocol_version as seen\n")
        scope = self.defer({"late": ()}, "from late.part import seen")
        self.assertEqual((scope["seen"], sys.late_loads), ("5.3", ["late.part", "late._version"]))

    def test_what_is_set_on_a_module_outlives_its_load(self):
        self.write("late.py", "value = 'own'\nother = 1\n")
        late = self.defer({"late": ()}, "import late")["late"]
        late.value = "patched"
        self.assertEqual((late.value, late.other), ("patched", 1))

    def test_a_walk_over_all_modules_loads_nothing(self):
        self.write("late.py", "")
        self.defer({"late": ()}, "import late")
        for module in list(sys.modules.values()):
            hasattr(module, "__warningregistry__")
            getattr(module, "__file__", None)
        self.assertEqual(sys.late_loads, [])

    def test_dir_and_a_star_import_see_all_names(self):
        self.write("late.py", "value = 1\n")
        late = self.defer({"late": ()}, "import late")["late"]
        self.assertIn("value", dir(late))
        self.write("later.py", "value = 2\n")
        self.defer({"later": ()}, "import later")
        scope = {}
        exec("from later import *", scope)
        self.assertEqual(scope["value"], 2)

    def test_a_module_that_puts_another_object_in_its_place_is_found_there(self):
        code = "import types\nnew = types.ModuleType(__name__)\nnew.value = 3\nsys.modules[__name__] = new\n"
        self.write("late.py", code)
        late = self.defer({"late": ()}, "import late")["late"]
        self.assertEqual(late.value, 3)
        self.assertEqual(type(sys.modules["late"]), types.ModuleType)

    def test_a_failed_load_is_told_each_time_and_may_succeed_later(self):
        self.write("late.py", "value = 1 / sys.late_divisor\n")
        late = self.defer({"late": ()}, "import late")["late"]
        sys.late_divisor = 0
        for _ in range(2):
            with self.assertRaises(ZeroDivisionError):
                late.value
        sys.late_divisor = 2
        self.assertEqual(late.value, 0.5)
        del sys.late_divisor

    def test_threads_that_use_a_module_at_once_all_find_it_whole(self):
        self.write("late.py", "import time\ntime.sleep(0.05)\nvalue = 1\n")
        late = self.defer({"late": ()}, "import late")["late"]
        found = []
        threads = [threading.Thread(target=lambda: found.append(late.value)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((found, sys.late_loads), ([1] * 8, ["late"]))

    def test_a_module_that_is_not_there_cannot_be_imported(self):
        with self.assertRaises(ModuleNotFoundError):
            self.defer({"not_there_at_all": ()}, "import not_there_at_all")


if __name__ == "__main__":
    unittest.main()
