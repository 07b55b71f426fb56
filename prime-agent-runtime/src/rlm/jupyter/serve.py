"""ipykernel's kernel object: which messages it serves and how."""

import asyncio
import json

from ipykernel.ipkernel import IPythonKernel
from jupyter_client.session import json_default

from rlm.jupyter.shell import Shell


def pack(message):
    """JSON that every parser accepts; raises for what is none."""
    return json.dumps(message, default=json_default, allow_nan=False).encode()


class ServingKernel(IPythonKernel):
    """Cells come on the shell channel; interrupts, answers and the end come on the control channel, in its own thread."""

    shell_class = Shell

    def attach(self, cells, bridge, hang_up, crash, fillers):
        """To be called before `start()`; the host has connected when the first cell comes."""
        self.fillers = fillers
        self.cells = cells
        self.bridge = bridge
        self.hang_up = hang_up
        self.crash = crash
        self.session.pack = pack

    def pre_handler_hook(self):
        """Signals are handled by `rlm.interrupts`, also between cells."""

    post_handler_hook = pre_handler_hook

    async def execute_request(self, stream, ident, parent):
        try:
            await self.answer(stream, ident, parent)
        except BaseException:
            # the host would wait for the end of this cell for ever
            self.crash()

    async def answer(self, stream, ident, parent):
        """Runs a cell and sends its reply."""
        # a cell that cancels all tasks does not mean the one that serves
        asyncio.tasks._unregister_task(asyncio.current_task())
        if self.fillers is not None:
            self.cells.wire.flush()
            self.fillers.close()
            self.fillers = None
        content = parent["content"]
        done = await self.cells.run(content["code"], content["cell"], parent)
        reply = {"status": "ok", "execution_count": self.execution_count, "user_expressions": {}, "payload": []}
        # what was shown comes before the word that the kernel is idle
        self.cells.wire.flush()
        error = done.get("error")
        if error:
            reply = {"status": "error", "execution_count": self.execution_count}
            reply.update(ename=error["name"], evalue=error["value"], traceback=error["traceback"])
        self.session.send(stream, "execute_reply", {**reply, "done": done}, parent, ident=ident)

    def dispatch_control(self, frames):
        """In the control thread; ipykernel's own way stops for good when a cell has replaced `sys.stdout`."""
        ident, frames = self.session.feed_identities(frames, copy=False)
        try:
            message = self.session.deserialize(frames, content=True, copy=False)
        except Exception:
            self.log.error("A control message that is not the host's was refused.", exc_info=True)
            return
        kind, content = message["header"]["msg_type"], message["content"]
        if kind == "comm_msg":
            data = content["data"]
            if data["op"] == "reply":
                self.bridge.deliver(data["id"], data["ok"], data.get("value"))
            else:
                self.cells.serve_snapshot(data)
        elif kind == "interrupt_request":
            self.cells.interrupt(content.get("cell"))
            self.session.send(self.control_stream, "interrupt_reply", {"status": "ok"}, message, ident=ident)
        elif kind == "shutdown_request":
            self.hang_up()
        else:
            self.log.error("%s is not served on the control channel", kind)
