"""What the tests share: the package on the path, and a kernel process to talk to."""

import json
import os
import socket
import subprocess
import sys
import tempfile

SOURCE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src")
sys.path.insert(0, SOURCE)


class KernelProcess:
    """A kernel of this interpreter, spoken to over its wire as a host would."""

    def __init__(self, *options):
        self.folder = tempfile.TemporaryDirectory()
        ours, theirs = socket.socketpair()
        report, their_report = socket.socketpair()
        self.wire = ours.makefile("rwb")
        self.report = report.makefile("rb")
        self.sockets = (ours, report)
        program = [sys.executable, "-X", "utf8", "-I", os.path.join(SOURCE, "rlm", "__main__.py"), *options]
        place = "exec 3<&%d 4<&%d; exec \"$@\"" % (theirs.fileno(), their_report.fileno())
        self.process = subprocess.Popen(
            ["bash", "-c", place, "bash", *program],
            pass_fds=(theirs.fileno(), their_report.fileno()),
            stdin=subprocess.DEVNULL,
            cwd=self.folder.name,
            start_new_session=True,
        )
        theirs.close()
        their_report.close()
        self.hello = self.receive()
        self.cells = 0

    def send(self, **message):
        self.wire.write(json.dumps(message).encode() + b"\n")
        self.wire.flush()

    def receive(self):
        line = self.wire.readline()
        if not line:
            raise EOFError("the kernel hung up")
        return json.loads(line)

    def run(self, code, on_message=lambda message: None):
        """Runs a cell and returns its `done` message; other messages go to `on_message`."""
        self.cells += 1
        self.send(op="execute", cell=self.cells, code=code)
        while True:
            message = self.receive()
            if message["op"] == "done":
                return message
            on_message(message)

    def close(self):
        """Hangs up, as a host that dies does; returns what the guardian reported."""
        self.wire.close()
        self.sockets[0].close()
        try:
            self.sockets[1].shutdown(socket.SHUT_WR)
        except OSError:
            # the guardian has ended already
            pass
        reports = [json.loads(line) for line in self.report]
        self.report.close()
        self.sockets[1].close()
        self.process.wait()
        self.folder.cleanup()
        return reports
