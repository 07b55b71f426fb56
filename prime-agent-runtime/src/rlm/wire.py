"""The line to the host: one JSON object a line over a private socket, never over descriptors 0 to 2."""

import json
import os
import queue
import threading

PROTOCOL = 1
# the host takes no message that is longer
MAX_BYTES = 10 << 20


class Wire:
    """Sends from any thread without waiting and hands each received message to `on_message` in a thread of its own."""

    def __init__(self, fd, on_message, on_close):
        self.fd = fd
        self.on_message = on_message
        self.on_close = on_close
        # put() is atomic even when a signal interrupts it, so no message is ever torn
        self.outgoing = queue.SimpleQueue()
        self.drained = threading.Event()

    def start(self):
        """Starts reading and writing."""
        threading.Thread(target=self.read_loop, name="rlm-read", daemon=True).start()
        threading.Thread(target=self.write_loop, name="rlm-write", daemon=True).start()

    def send(self, message):
        """Queues one message; raises TypeError or ValueError when it is not JSON or too long."""
        self.outgoing.put(encode(message) + b"\n")

    def backlog(self):
        """How many messages the host has not taken yet."""
        return self.outgoing.qsize()

    def flush(self, timeout):
        """Waits until all that was queued is written, at most `timeout` seconds."""
        self.outgoing.put(None)
        self.drained.wait(timeout)

    def write_loop(self):
        while True:
            data = self.outgoing.get()
            if data is None:
                self.drained.set()
                continue
            view = memoryview(data)
            try:
                while view:
                    view = view[os.write(self.fd, view) :]
            except OSError as error:
                self.on_close(error)
                return

    def read_loop(self):
        try:
            self.read_messages()
        except BaseException as error:
            # without this thread no answer and no end would ever be seen again
            self.on_close(error)

    def read_messages(self):
        pieces = []
        while True:
            data = os.read(self.fd, 1 << 18)
            if not data:
                self.on_close(None)
                return
            *whole, rest = data.split(b"\n")
            for line in whole:
                pieces.append(line)
                message = json.loads(b"".join(pieces))
                pieces = []
                self.on_message(message)
            if rest:
                pieces.append(rest)


def encode(message):
    """One message as JSON that every parser accepts; raises TypeError or ValueError for what is none or too long."""
    data = json.dumps(message, separators=(",", ":"), allow_nan=False).encode()
    if len(data) > MAX_BYTES:
        raise ValueError("this has %d bytes as JSON, and the host takes at most 10 MB at once" % len(data))
    return data
