"""Restores a snapshot into the namespace of a new kernel."""

import importlib
import os
import pickle
import sys

from rlm.snapshot.file import Reader, Unreadable
from rlm.snapshot.sources import remember, restored_name

MAX_REASON = 200


def restore(namespace, path, cwd):
    """Fields of the answer: `restored` names, `lost` with reasons, `unsaved` as it was written; or `problem`.

    `cwd` is where this kernel begins. Never raises for what the file holds. What is in the namespace already stays.
    """
    try:
        reader = Reader(path)
    except FileNotFoundError:
        return {"restored": [], "lost": [], "unsaved": []}
    except (Unreadable, OSError, ValueError, KeyError) as error:
        return {"problem": str(error), "restored": [], "lost": [], "unsaved": []}
    with reader:
        return Restoring(reader, namespace).run(cwd)


class Restoring:
    """Restores record after record; what needs something that comes later is tried again."""

    def __init__(self, reader, namespace):
        self.reader = reader
        self.namespace = namespace
        self.reasons = {}
        self.counter = 0

    def run(self, cwd):
        table = self.reader.table
        # whoever goes on in another folder means that one
        lost_folder = self.enter(table["cwd"]) if table["began"] == cwd else None
        order = {"module": 0, "source": 1, "pickle": 2, "dill": 2, "alias": 3}
        known = [record for record in table["records"] if record["how"] in order]
        todo = sorted(known, key=lambda record: (order[record["how"]], record.get("order", [])))
        while todo:
            failed = [record for record in todo if not self.attempt(record)]
            if len(failed) == len(todo):
                break
            todo = failed
        lost = [{"name": record["name"], "why": self.reasons[record["name"]]} for record in todo]
        gone = {record["name"] for record in todo}
        restored = [record["name"] for record in table["records"] if record["name"] not in gone]
        folder = {} if lost_folder is None else {"folder": lost_folder}
        return {"restored": restored, "lost": lost, "unsaved": table["unsaved"], **folder}

    def enter(self, cwd):
        """Back to the folder that cells had changed to; returns its name when that is not possible."""
        if cwd is None:
            return None
        try:
            os.chdir(cwd)
        except OSError:
            return cwd
        return None

    def attempt(self, record):
        try:
            getattr(self, "load_" + record["how"])(record)
            return True
        except BaseException as error:
            text = str(error)
            self.reasons[record["name"]] = ("%s: %s" % (type(error).__name__, text) if text else type(error).__name__)[
                :MAX_REASON
            ]
            return False

    def load_module(self, record):
        self.namespace[record["name"]] = importlib.import_module(record["module"])

    def load_source(self, record):
        self.counter += 1
        filename = restored_name(self.counter)
        source = record["source"]
        remember(source, filename)
        scratch = record["defines"]
        missing = object()
        before = self.namespace.get(scratch, missing)
        exec(compile(source, filename, "exec", dont_inherit=True), self.namespace)
        made = self.namespace[scratch]
        if record["name"] != scratch:
            if before is missing:
                del self.namespace[scratch]
            else:
                self.namespace[scratch] = before
        self.namespace[record["name"]] = made

    def load_pickle(self, record):
        self.namespace[record["name"]] = pickle.loads(self.reader.data(record))

    def load_dill(self, record):
        here = list(sys.version_info[:2])
        there = self.reader.table["python"]
        if here != there:
            raise RuntimeError("it was saved by Python %d.%d and this is %d.%d" % (*there, *here))
        from rlm.snapshot.with_dill import load

        self.namespace[record["name"]] = load(self.reader.data(record))

    def load_alias(self, record):
        self.namespace[record["name"]] = self.namespace[record["of"]]
