"""What code in a cell can import: requests to the host, and proxies for the host's features."""

from rlm.host import HostError, host_request, host_request_sync

__all__ = ["HostError", "host_request", "host_request_sync"]
