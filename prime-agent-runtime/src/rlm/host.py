"""Requests from code in a cell to the host, answered while the cell runs."""

import itertools
import threading


class HostError(RuntimeError):
    """The host refused or failed a request; the message is the host's."""


HostError.__module__ = "rlm"


class Bridge:
    """Matches requests with their answers. `deliver` is called by the thread that reads the wire."""

    def __init__(self, wire):
        self.wire = wire
        self.ids = itertools.count(1)
        self.waiting = {}

    def send(self, kind, payload, on_answer):
        """Sends a request; `on_answer(ok, value)` is called once in the reading thread. Returns its number."""
        if not isinstance(kind, str) or not kind:
            raise TypeError("the type of a host request is a non-empty string")
        if payload is not None and not isinstance(payload, dict):
            raise TypeError("the payload of a host request is a dict, not " + type(payload).__name__)
        number = next(self.ids)
        self.waiting[number] = on_answer
        try:
            # the type lies beside the payload, so no key of the payload can replace it
            self.wire.send({"op": "request", "id": number, "type": kind, "payload": payload or {}})
        except BaseException:
            self.waiting.pop(number, None)
            raise
        return number

    def deliver(self, number, ok, value):
        on_answer = self.waiting.pop(number, None)
        if on_answer:
            on_answer(ok, value)

    def cancel(self, number):
        """Forgets a request and tells the host that nobody waits for it."""
        if self.waiting.pop(number, None):
            self.wire.send({"op": "cancel", "id": number})


_bridge = None


def connect(bridge):
    """Makes this process a kernel's: requests go through `bridge` from now on."""
    global _bridge
    _bridge = bridge


def current_bridge():
    if _bridge is None:
        raise HostError("there is no host here: rlm requests work only inside a Prime Agent kernel")
    return _bridge


async def host_request(type, payload=None):
    """Asks the host and returns its answer (JSON values); raises HostError with the host's message."""
    import asyncio

    bridge = current_bridge()
    loop = asyncio.get_running_loop()
    future = loop.create_future()

    def settle(ok, value):
        if future.done():
            return
        if ok:
            future.set_result(value)
        else:
            future.set_exception(HostError(value))

    def on_answer(ok, value):
        try:
            loop.call_soon_threadsafe(settle, ok, value)
        except RuntimeError:
            # the loop that asked has been closed: nobody waits any more
            return

    number = bridge.send(type, payload, on_answer)
    try:
        return await future
    except BaseException:
        bridge.cancel(number)
        raise


def host_request_sync(type, payload=None, timeout=None):
    """The same without `await`, from any thread. Raises TimeoutError after `timeout` seconds."""
    bridge = current_bridge()
    answered = threading.Event()
    answer = []

    def on_answer(ok, value):
        answer.extend((ok, value))
        answered.set()

    number = bridge.send(type, payload, on_answer)
    try:
        if not answered.wait(timeout):
            raise TimeoutError("the host did not answer %s within %s s" % (type, timeout))
    except BaseException:
        bridge.cancel(number)
        raise
    ok, value = answer
    if ok:
        return value
    raise HostError(value)
