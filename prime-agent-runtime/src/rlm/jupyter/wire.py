"""What the kernel tells its host, as signed Jupyter messages."""

import json

from rlm.wire import PROTOCOL

# requests of cells travel as messages of this one comm
COMM = "host.request"


class JupyterWire:
    """Takes the messages that the built-in kernel writes as lines: `chunk`, `display`, `request` and `cancel`."""

    def __init__(self, session, iopub_thread):
        self.session = session
        self.iopub = iopub_thread.background_socket
        # the message that asked for the running cell
        self.parent = None

    def send(self, message):
        """Queues one message; raises TypeError or ValueError when it is not JSON."""
        op = message["op"]
        if op == "chunk":
            self.publish("stream", {"name": message["stream"], "text": message["text"]})
        elif op == "display":
            self.publish("display_data", {"data": message["bundle"], "metadata": {}, "transient": {}})
        else:
            # the session would turn what is not JSON into something else instead of refusing it
            json.dumps(message)
            self.publish("comm_msg", {"comm_id": COMM, "data": message})

    def publish(self, kind, content):
        self.session.send(self.iopub, kind, content, parent=self.parent, ident=kind.encode())

    def backlog(self):
        """How many messages the publishing thread has not taken yet."""
        return 0


def describe_connection(app):
    """How the host reaches the sockets; it travels over the private line, never through a file or an argument."""
    ports = {"shell": app.shell_port, "iopub": app.iopub_port, "control": app.control_port}
    return {"transport": app.transport, "ip": app.ip, "ports": ports, "key": app.session.key.decode()}


