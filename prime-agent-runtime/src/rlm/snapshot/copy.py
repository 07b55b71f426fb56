"""Has a forked copy of the kernel write the snapshot, so that no cell waits and no variable can do harm."""

import json
import os
import signal
import threading


class Snapshots:
    """`names` knows the user's names; `send` takes messages to the host; `note` tells the guardian."""

    def __init__(self, names, send, note):
        self.names = names
        self.send = send
        self.note = note
        # names that the last snapshot holds and this kernel could not restore
        self.carried = []

    def serve(self, message):
        """Answers a `save` or `restore` of the host; in the main thread, while no cell runs."""
        try:
            if message["op"] == "save":
                self.save(message)
            else:
                self.restore(message)
        except Exception as error:
            self.answer(message, {"problem": "%s: %s" % (type(error).__name__, error)})

    def refuse(self, message):
        """A cell came first."""
        self.answer(message, {"busy": True})

    def answer(self, message, fields):
        self.send({"op": "answer", "id": message["id"], **fields})

    def restore(self, message):
        from rlm.snapshot.read import restore

        answer = restore(self.names.namespace, message["path"], message["cwd"])
        self.carried = [each["name"] for each in answer["lost"]]
        self.answer(message, answer)

    def save(self, message):
        names = self.names.of_user()
        read, send = os.pipe()
        try:
            pid = os.fork()
        except OSError:
            os.close(read)
            os.close(send)
            raise
        if pid == 0:
            self.write(message, names, send)
        os.close(send)
        # the guardian ends it with the kernel
        self.note(b"c", pid)
        try:
            threading.Thread(target=self.wait, args=(message, pid, read), name="rlm-snapshot", daemon=True).start()
        except RuntimeError:
            # no more threads: whoever saves must not wait for the copy either
            os.kill(pid, signal.SIGKILL)
            self.wait(message, pid, read)

    def write(self, message, names, send):
        """In the copy: never returns."""
        try:
            os.setsid()
            from rlm.snapshot import quiet

            # first, so that an import that another thread of the kernel was in the middle of ends in an alarm
            quiet.quieten(message["limits"]["seconds"], send)
            close_in_children(send)
            from rlm.snapshot import write

            try:
                answer = write.write(self.names.namespace, names, self.carried, message)
            except OSError as error:
                answer = {"problem": "it cannot be written: %s" % error.strerror}
            except Exception as error:
                answer = {"problem": str(error)}
            with open(send, "wb") as pipe:
                pipe.write(json.dumps(answer).encode())
        finally:
            os._exit(0)

    def wait(self, message, pid, read):
        """In a thread of its own: hands on what the copy answers."""
        with open(read, "rb") as pipe:
            text = pipe.read()
        try:
            os.waitpid(pid, 0)
        except ChildProcessError:
            # a cell waited for any child and got this one
            pass
        self.note(b"e", pid)
        self.answer(message, json.loads(text) if text else {"problem": "the copy of the kernel that saves them ended"})


def close_in_children(fd):
    """Of this process: one that user code leaves behind would hold it open, and who waits for its end would wait on."""
    own = os.getpid()
    os.register_at_fork(after_in_child=lambda: os.close(fd) if os.getppid() == own else None)
