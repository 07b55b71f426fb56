"""Snapshots of the namespace: written by a forked copy of the kernel, read by the kernel that comes after.

`copy` forks and waits; `quiet`, `write`, `saver` and `sources` work in the copy; `file` is the format, `read` restores.
"""
