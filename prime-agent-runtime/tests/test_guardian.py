import os
import subprocess
import sys
import unittest
from unittest import mock

import support  # noqa: F401 puts the package on the path

from rlm import guardian


@unittest.skipUnless(sys.platform == "linux", "children are listed there alone")
class LeftoversTest(unittest.TestCase):
    def test_a_child_that_a_look_at_all_processes_missed_is_found(self):
        child = subprocess.Popen(["sleep", "600"])
        watching = guardian.Guardian(os.getpid(), "mark", -1)
        try:
            with mock.patch.object(guardian, "find_leftovers", return_value={}):
                self.assertEqual(watching.leftovers().get(child.pid), "sleep 600")
        finally:
            child.kill()
            child.wait()


if __name__ == "__main__":
    unittest.main()
