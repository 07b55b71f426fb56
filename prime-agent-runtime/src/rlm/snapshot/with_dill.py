"""dill for what pickle cannot save: closures, classes made inside functions."""

import dill


def make_pickler(data, live):
    """A pickler that refuses live objects at any depth; dill would make others of them, or empty their files."""

    class Pickler(dill.Pickler):
        def save(self, obj, save_persistent_id=True):
            if isinstance(obj, live):
                raise dill.PicklingError("a live %s belongs to its process" % type(obj).__name__)
            return super().save(obj, save_persistent_id)

    return Pickler(data, protocol=5)


def load(data):
    """The value again."""
    return dill.loads(data)
