"""Which names a kernel gives to cells, and which ones the cells made."""

import re

# names that IPython and this kernel keep for themselves: results, history and the exit code of a command
KEPT = re.compile(r"_+|_\d+|_i+|_i\d+|_[iod]h|_exit_code|In|Out|__\w+__")
# more are not told; who has so many has no use for a list
MAX_NAMES = 2000


def inject(namespace):
    """Puts what every cell can use without an import into the namespace."""
    import rlm
    from rlm import goal, skills

    namespace.update(rlm=rlm, goal=goal)
    skills.install(namespace)


class Names:
    """The names of one namespace; made once all that is not the user's stands in it."""

    def __init__(self, namespace):
        self.namespace = namespace
        self.given = dict(namespace)
        self.told = ()

    def of_user(self):
        """Names that cells bound, in the order in which they were first bound."""
        given = self.given
        return [
            name
            for name, value in list(self.namespace.items())
            if type(name) is str
            and name.isidentifier()
            and not KEPT.fullmatch(name)
            and not (name in given and given[name] is value)
        ]

    def news(self):
        """Fields for the end of a cell: `names`, when they are others than last time."""
        names = tuple(self.of_user()[:MAX_NAMES])
        if names == self.told:
            return {}
        self.told = names
        return {"names": names}
