"""Starts a kernel: checks the interpreter, then splits into a guardian and the kernel it watches. With `--forks=<folder>`
it starts a fork server instead.

This file must stay readable for every Python 3, so that an old one can say what it lacks.
"""

import os
import sys

UNUSABLE = 64


def refuse(reason):
    """Ends the process with the code that tells the host to try another interpreter."""
    sys.stderr.write(reason + "\n")
    sys.stderr.flush()
    os._exit(UNUSABLE)


def wants_ipykernel():
    """True with `--backend=ipykernel`, and with `--backend=prefer` where the interpreter has it."""
    if "--backend=ipykernel" not in sys.argv and "--backend=prefer" not in sys.argv:
        return False
    from rlm.jupyter.version import find_ipykernel

    lacked = find_ipykernel()
    if lacked and "--backend=ipykernel" in sys.argv:
        refuse(lacked)
    return not lacked


def main():
    if sys.version_info < (3, 10):
        refuse("is Python %d.%d; 3.10 or newer is needed" % sys.version_info[:2])
    if "--no-venv" in sys.argv and sys.prefix != sys.base_prefix:
        refuse("belongs to the virtual environment " + sys.prefix)
    # isolated mode leaves the folder of the package out of the path
    sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with_ipykernel = wants_ipykernel()

    def run_kernel(life):
        from rlm import skills

        skills.FOLDERS.extend(word[9:] for word in sys.argv if word.startswith("--skills="))
        if with_ipykernel:
            from rlm.jupyter.load import load

            load()
            from rlm.jupyter.kernel import run
        else:
            from rlm.kernel import run
        if "--wait" in sys.argv:
            from rlm.session import wait_for_session

            wait_for_session()
        run(life, sys.argv)

    folders = [word[8:] for word in sys.argv if word.startswith("--forks=")]
    if folders:
        from rlm import fork_server
        from rlm.jupyter.load import load

        load()
        fork_server.serve(folders[0], run_kernel)
    else:
        from rlm.guardian import start

        start(run_kernel)


main()
