"""Starts `python -m ipykernel_launcher` with Jupyter's own client and prints what it cost until its first reply."""

import json
import time

from jupyter_client import KernelManager

manager = KernelManager(kernel_name="python3")
started = time.monotonic()
manager.start_kernel()
client = manager.blocking_client()
client.start_channels()
client.wait_for_ready(timeout=120)
wall = time.monotonic() - started
with open("/proc/%d/stat" % manager.provisioner.pid) as file:
    fields = file.read().rpartition(")")[2].split()
print(json.dumps({"wallMs": wall * 1000, "cpuMs": (int(fields[11]) + int(fields[12])) * 10}))
client.stop_channels()
manager.shutdown_kernel(now=True)
