"""Skills with a Python package: `await name(...)` calls its `run`, loaded by the first call.

A skill is a folder with `SKILL.md` and `src/<name>/__init__.py`; commands in its `bin` are on PATH.
"""

import collections.abc
import importlib.util
import os
import sys
import types

# commands of skills run with the kernel's interpreter, not with that of the project
PYTHON = "PRIME_AGENT_SKILL_PYTHON"


class Call(collections.abc.Coroutine):
    """A call of a skill: a coroutine whose `repr` says that it does nothing before it is awaited."""

    def __init__(self, name, coroutine):
        # Python's own warning of a coroutine that nobody awaits says this name
        coroutine.__name__ = coroutine.__qualname__ = name
        self.__name__ = self.__qualname__ = name
        self._coroutine = coroutine
        self._is_begun = False
        self._is_told = False

    def __await__(self):
        self._is_begun = True
        return self._coroutine.__await__()

    def send(self, value):
        self._is_begun = True
        return self._coroutine.send(value)

    def throw(self, *error):
        return self._coroutine.throw(*error)

    def close(self):
        self._coroutine.close()

    def __repr__(self):
        if self._is_begun:
            return "<call of the skill %s>" % self.__name__
        self._is_told = True
        return "not awaited, nothing was done: write `await %s(...)`" % self.__name__

    def __del__(self):
        if self._is_told:
            # Python's warning would come once more, in a later cell
            self._coroutine.close()


class Skill(types.ModuleType):
    """The module of a skill, which can be called. Its code runs when something of it is first asked for."""

    def __init__(self, name, file):
        super().__init__(name, "A skill: `await %s(...)`; `%s.run` says more." % (name, name))
        self.__file__ = file
        self._loaded = False

    def __getattr__(self, attribute):
        if attribute.startswith("__") or self._loaded:
            raise AttributeError("the skill %s has no %s" % (self.__name__, attribute))
        self._loaded = True
        try:
            self._load()
        except BaseException:
            self._loaded = False
            raise
        return getattr(self, attribute)

    def _load(self):
        # under a name of its own: a module of the user's may have the short one
        package = "_skill_" + self.__name__
        folder = os.path.dirname(self.__file__)
        spec = importlib.util.spec_from_file_location(package, self.__file__, submodule_search_locations=[folder])
        self.__spec__, self.__package__, self.__path__ = spec, package, [folder]
        sys.modules[package] = self
        exec(spec.loader.get_code(package), self.__dict__)

    def __call__(self, *arguments, **options):
        return Call(self.__name__, self._call(*arguments, **options))

    async def _call(self, *arguments, **options):
        return await self.run(*arguments, **options)

    def __reduce__(self):
        return find_skill, (self.__name__,)

    def __repr__(self):
        return "<skill %s: await %s(...)>" % (self.__name__, self.__name__)


class Finder:
    """Lets `import name` find a skill where nothing else has that name: a module of the user's comes first."""

    def __init__(self, skills):
        self.skills = skills

    def find_spec(self, name, _path=None, _target=None):
        skill = self.skills.get(name)
        return importlib.util.spec_from_loader(name, Loader(skill), is_package=True) if skill else None


class Loader:
    def __init__(self, skill):
        self.skill = skill

    def create_module(self, _spec):
        return self.skill

    def exec_module(self, _module):
        """Its code runs later."""


# where skills lie, set by the start of the kernel
FOLDERS = []
_skills = {}


def find_skill(name):
    """The skill of that name; raises KeyError."""
    return _skills[name]


def install(namespace):
    """Gives cells the skills that lie in `FOLDERS`; of two with one name the first counts."""
    for folder in FOLDERS:
        for entry in sorted(os.listdir(folder)):
            name = entry.replace("-", "_")
            file = os.path.join(folder, entry, "src", name, "__init__.py")
            if name in _skills or not name.isidentifier() or not os.path.isfile(file):
                continue
            _skills[name] = namespace[name] = Skill(name, file)
            commands = os.path.join(folder, entry, "bin")
            if os.path.isdir(commands):
                os.environ["PATH"] = commands + os.pathsep + os.environ.get("PATH", os.defpath)
    if _skills:
        os.environ[PYTHON] = sys.executable
        sys.meta_path.append(Finder(_skills))
