import asyncio
import os
import unittest

import support

SKILLS = os.path.join(os.path.dirname(os.path.dirname(support.SOURCE)), "packages", "prime-agent", "skills")
NOT_AWAITED = "not awaited, nothing was done: write `await edit(...)`"


class SkillCallTest(unittest.TestCase):
    def setUp(self):
        # as a kernel does it, but in this process
        from rlm.skills import Skill

        self.edit = Skill("edit", os.path.join(SKILLS, "edit", "src", "edit", "__init__.py"))

    def test_a_call_that_was_not_awaited_warns_with_the_name_of_the_skill(self):
        with self.assertWarnsRegex(RuntimeWarning, "coroutine 'edit' was never awaited"):
            self.edit("a", "b", "c")

    def test_a_call_works_as_a_coroutine_in_tasks_and_groups(self):
        async def main():
            calls = [self.edit("/nowhere/a", "b", "c") for _ in range(3)]
            tasks = [asyncio.create_task(calls[0]), calls[1], asyncio.wait_for(calls[2], 60)]
            return calls, await asyncio.gather(*tasks, return_exceptions=True)

        calls, results = asyncio.run(main())
        self.assertEqual([type(result) for result in results], [FileNotFoundError] * 3)
        self.assertEqual([repr(call) for call in calls], ["<call of the skill edit>"] * 3)
        with self.assertRaises(FileNotFoundError):
            asyncio.run(self.edit("/nowhere/a", "b", "c"))

    def test_a_call_that_is_cancelled_ends(self):
        async def main():
            call = asyncio.create_task(self.edit("/nowhere/a", "b", "c"))
            call.cancel()
            await asyncio.wait([call])
            return call.cancelled()

        self.assertTrue(asyncio.run(main()))


class SkillCellTest(unittest.TestCase):
    def test_a_cell_whose_last_expression_is_a_call_without_await_says_so_and_changes_nothing(self):
        kernel = support.KernelProcess("--skills=" + SKILLS)
        self.addCleanup(kernel.close)
        done = kernel.run("with open('a', 'w') as file: _ = file.write('b')\nedit('a', 'b', 'c')")
        self.assertEqual((done["status"], done["result"]), ("ok", NOT_AWAITED))
        after = kernel.run("open('a').read()")
        self.assertEqual((after["result"], after["stderr"]), ("'b'", ""))
        self.assertIn("coroutine 'edit' was never awaited", kernel.run("edit('a', 'b', 'c')\n1")["stderr"])


if __name__ == "__main__":
    unittest.main()
