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
        # variables whose saving ended or stopped the copy: by name what they were, and why they are left out
        self.harmful = {}

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
        """Whoever asked waits until it gets something."""
        head = {"op": "answer", "id": message["id"]}
        try:
            self.send({**head, **fields})
        except ValueError as error:
            self.send({**head, "problem": "the report is too long: %s" % error})

    def restore(self, message):
        from rlm.snapshot.read import restore

        answer = restore(self.names.namespace, message["path"], message["cwd"])
        self.carried = [each["name"] for each in answer["lost"]]
        self.answer(message, answer)

    def save(self, message):
        from rlm.snapshot.place import Place

        namespace = self.names.namespace
        self.harmful = {
            name: (what, why)
            for name, (what, why) in self.harmful.items()
            if name in namespace and identify(namespace[name]) == what
        }
        names = [name for name in self.names.of_user() if name not in self.harmful]
        known = [(name, identify(namespace[name])) for name in names]
        place = Place()
        read, send = os.pipe()
        try:
            pid = os.fork()
        except OSError:
            os.close(read)
            os.close(send)
            raise
        if pid == 0:
            self.write(message, names, place, send)
        os.close(send)
        # the guardian ends it with the kernel
        self.note(b"c", pid)
        job = (message, pid, read, lambda: place.find(known))
        try:
            threading.Thread(target=self.wait, args=job, name="rlm-snapshot", daemon=True).start()
        except RuntimeError:
            # no more threads: whoever saves must not wait for the copy either
            kill_copy(pid)
            self.wait(message, pid, read, lambda: None)

    def write(self, message, names, place, send):
        """In the copy: never returns."""
        try:
            os.setsid()
            from rlm.snapshot import quiet

            # first, so that an import that another thread of the kernel was in the middle of ends in an alarm
            quiet.quieten(message["limits"]["seconds"], send)
            close_in_children(send)
            from rlm.snapshot import write

            refused = [{"name": name, "why": why} for name, (_, why) in self.harmful.items()]
            try:
                answer = write.write(self.names.namespace, names, self.carried, message, place, refused)
            except OSError as error:
                answer = {"problem": "it cannot be written: %s" % error.strerror}
            except Exception as error:
                answer = {"problem": str(error)}
            with open(send, "wb") as pipe:
                pipe.write(json.dumps(answer).encode())
        finally:
            os._exit(0)

    def wait(self, message, pid, read, find):
        """In a thread of its own: hands on what the copy answers; `find` gives the variable that it was at, or None.

        The code of a variable runs in a child of the copy and can stop or kill it. Then the whole group is killed, and the
        host is told to ask again: next time that variable is left out.
        """
        from rlm.snapshot.quiet import END_S
        from rlm.snapshot.watch import STOPPED, collect

        limit = message["limits"]["seconds"] + END_S + GROUP_GRACE_S
        text, _, fault = collect(read, pid, limit, lambda: kill_copy(pid))
        answer = read_answer(text)
        if answer is None:
            kill_group(pid)
        self.note(b"e", pid)
        if answer is not None:
            self.answer(message, answer)
            return
        found = find()
        if found is None:
            self.answer(message, {"problem": "the copy of the kernel that saves them ended"})
            return
        name, what = found
        done = "stopped" if fault == STOPPED else "held up" if fault else "ended"
        self.harmful[name] = (what, "saving it %s the copy of the kernel that does it" % done)
        self.answer(message, {"again": True})


# beyond the copy's own alarm
GROUP_GRACE_S = 5


def read_answer(text):
    """What the copy answered, or None when it did not come to its end."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def identify(value):
    """Tells a value from another one under the same name, without holding it."""
    return id(value), type(value)


def kill_group(pid):
    """Kills the copy, its workers and what these left in their group; False when there is no such group."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        # not made yet, or nothing but ended processes in it
        return False
    return True


def kill_copy(pid):
    """Kills a copy that nobody has waited for yet, with its group."""
    if not kill_group(pid):
        os.kill(pid, signal.SIGKILL)


def close_in_children(fd):
    """Of this process: one that user code leaves behind would hold it open, and who waits for its end would wait on."""
    own = os.getpid()
    os.register_at_fork(after_in_child=lambda: os.close(fd) if os.getppid() == own else None)
