"""What the kernel tells its host, as signed Jupyter messages."""

import queue
import threading

from rlm.wire import encode

# requests of cells travel as messages of this one comm
COMM = "host.request"
# the longest that the end of a cell waits for what it published before
FLUSH_S = 5.0


class JupyterWire:
    """Takes the messages that the built-in kernel writes as lines: `chunk`, `display`, `request` and `cancel`.

    One thread publishes them, since ZeroMQ gives each thread that does so a descriptor of its own.
    """

    def __init__(self, session, iopub_thread, interrupts):
        self.session = session
        self.interrupts = interrupts
        self.iopub = iopub_thread.background_socket
        # put() is atomic even when a signal interrupts it
        self.outgoing = queue.SimpleQueue()
        # the message that asked for the running cell
        self.parent = None

    def start(self, on_fault):
        """Starts publishing; `on_fault` is called while an exception is handled that should never happen."""

        def body():
            try:
                self.run()
            except BaseException:
                on_fault()

        threading.Thread(target=body, name="rlm-publish", daemon=True).start()
        # the thread gets its descriptor now
        self.publish("stream", {"name": "stdout", "text": ""})

    def run(self):
        while True:
            item = self.outgoing.get()
            if isinstance(item, threading.Event):
                item.set()
            else:
                kind, content, parent = item
                self.session.send(self.iopub, kind, content, parent=parent, ident=kind.encode())

    def flush(self):
        """Waits until all that was sent is on its way."""
        done = threading.Event()
        self.outgoing.put(done)
        done.wait(FLUSH_S)

    def publish(self, kind, content):
        self.outgoing.put((kind, content, self.parent))

    def send(self, message):
        """Queues one message; raises TypeError or ValueError when it is not JSON or too long."""
        op = message["op"]
        if op == "chunk":
            self.publish("stream", {"name": message["stream"], "text": message["text"]})
            return
        # the session would turn what is not JSON into something else instead of refusing it
        encode(message)
        if op == "display":
            self.publish("display_data", {"data": message["bundle"], "metadata": {}, "transient": {}})
        else:
            self.send_whole(message)

    def send_whole(self, message):
        """An interrupt that comes meanwhile is raised when the message is out; then nobody waits for its answer."""
        is_out = False
        try:
            with self.interrupts:
                self.publish("comm_msg", {"comm_id": COMM, "data": message})
                is_out = True
        except BaseException:
            if is_out and message["op"] == "request":
                self.publish("comm_msg", {"comm_id": COMM, "data": {"op": "cancel", "id": message["id"]}})
            raise

    def backlog(self):
        """How many messages the publishing thread has not taken yet."""
        return self.outgoing.qsize()


def describe_connection(app):
    """How the host reaches the sockets; it travels over the private line, never through a file or an argument."""
    ports = {"shell": app.shell_port, "iopub": app.iopub_port, "control": app.control_port}
    return {"transport": app.transport, "ip": app.ip, "ports": ports, "key": app.session.key.decode()}
