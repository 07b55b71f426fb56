"""Snapshots of the namespace: written by a forked copy of the kernel, read by the kernel that comes after.

`copy` forks and waits; `quiet`, `write`, `saver` and `sources` work in the copy; `watch` and `place` tell what a variable
did to the process that saves it; `file` is the format, `read` restores.
"""
