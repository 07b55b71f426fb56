"""The file of a snapshot: a first line, the data of the variables, a table in JSON, an end that tells a whole file.

To load a variable is to run what the file says. A file counts only if this user alone could have written it.
"""

import json
import os
import stat
import struct
import zlib

MAGIC = b"prime-agent namespace 1\n"
# length and checksum of the table, and a word that is written last
END = struct.Struct(">QI8s")
WORD = b"complete"


class Unreadable(Exception):
    """The file cannot be used; the text says why."""


class Writer:
    """Writes a new file at `path`, readable by its owner only; `finish` makes it whole."""

    def __init__(self, path):
        try:
            os.unlink(path)
        except FileNotFoundError:
            # the last writer finished
            pass
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        self.file = open(fd, "w+b", buffering=0)
        write_all(self.file, MAGIC)
        self.end = len(MAGIC)

    def begin(self, limit):
        """Starts the data of one variable after all that was kept."""
        self.cut()
        return Data(self.file, self.end, limit)

    def keep(self, data):
        """Keeps what was written last; returns where it stands."""
        self.end = data.offset + data.length
        return {"offset": data.offset, "length": data.length, "crc": data.crc}

    def cut(self):
        """Removes what was written and not kept."""
        self.file.truncate(self.end)
        self.file.seek(self.end)

    def finish(self, table):
        """Writes the table and the end, to the disk."""
        self.cut()
        text = json.dumps(table).encode()
        write_all(self.file, text + END.pack(len(text), zlib.crc32(text), WORD))
        os.fsync(self.file.fileno())

    def close(self):
        self.file.close()


class TooLarge(Exception):
    """A variable needs more room than it may have."""


class Unwritable(Exception):
    """The disk refused data; the text says why."""


class Data:
    """What a pickler writes to: bounded, with a checksum."""

    def __init__(self, file, offset, limit):
        self.file = file
        self.offset = offset
        self.limit = limit
        self.length = 0
        self.crc = 0

    def write(self, piece):
        view = memoryview(piece).cast("B")
        if self.length + len(view) > self.limit:
            raise TooLarge
        self.length += len(view)
        self.crc = zlib.crc32(view, self.crc)
        try:
            write_all(self.file, view)
        except OSError as error:
            # told apart from an error of the user's own code
            raise Unwritable(error.strerror) from error


def write_all(file, data):
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


class Reader:
    """A whole file that this user alone could have written. Raises Unreadable, or FileNotFoundError where none is."""

    def __init__(self, path):
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise Unreadable("it cannot be opened (%s)" % error.strerror) from error
        self.fd = fd
        try:
            check_owner(os.fstat(fd), stat.S_ISREG, 0o077, "it")
            check_owner(os.stat(os.path.dirname(path) or "."), stat.S_ISDIR, 0o022, "its folder")
            self.size = os.fstat(fd).st_size
            self.table = self.read_table()
        except BaseException:
            self.close()
            raise

    def close(self):
        os.close(self.fd)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def read_table(self):
        end = self.size - END.size
        if self.read_at(0, len(MAGIC)) != MAGIC:
            raise Unreadable("it is none of this version of the program")
        if end < len(MAGIC):
            raise Unreadable("it is not whole")
        length, crc, word = END.unpack(self.read_at(end, END.size))
        if word != WORD or length > end - len(MAGIC):
            raise Unreadable("it is not whole")
        text = self.read_at(end - length, length)
        if zlib.crc32(text) != crc:
            raise Unreadable("it is damaged")
        return json.loads(text)

    def data(self, record):
        """The data of one variable; raises Unreadable when it is not what was written."""
        data = self.read_at(record["offset"], record["length"])
        if len(data) != record["length"] or zlib.crc32(data) != record["crc"]:
            raise Unreadable("it is damaged in the snapshot")
        return data

    def read_at(self, offset, length):
        pieces = []
        while length:
            piece = os.pread(self.fd, length, offset)
            if not piece:
                break
            pieces.append(piece)
            length -= len(piece)
            offset += len(piece)
        return b"".join(pieces)


def check_owner(found, is_kind, forbidden, what):
    """Others must not be able to change it, nor to read the file."""
    if not is_kind(found.st_mode):
        raise Unreadable("%s is something else" % what)
    if found.st_uid != os.geteuid():
        raise Unreadable("%s belongs to another user" % what)
    if found.st_mode & forbidden:
        raise Unreadable("%s is open to other users" % what)
