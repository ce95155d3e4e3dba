"""What a function asks of the machine that it runs on: files, processes, the network, clocks; a pure one asks nothing.

It is for a process of its own: what it puts in the place of Python's functions stays there, and it hears all threads.
"""

import datetime as dt
import os
import platform
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Any

_ASKS = ("open", "os.", "socket.", "subprocess.", "shutil.", "tempfile.", "urllib.", "ctypes.", "_thread.")
"""Beginnings of Python's audit events; see its table of them."""

_SILENT: tuple[tuple[ModuleType, str], ...] = (
    (os, "stat lstat access readlink uname getcwd getpid getppid getuid geteuid getgid getegid getlogin cpu_count"),
    (os, "urandom"),
    (platform, "uname node system release version machine processor platform"),
    (socket, "gethostname getfqdn"),
    (time, "time time_ns localtime gmtime ctime monotonic monotonic_ns perf_counter perf_counter_ns process_time"),
)
"""Functions that leave no audit event."""


class Ears:
    """Hears what is asked of the machine, from when it is made until the process ends; it answers by its own clock."""

    def __init__(self, *, shift: int, host: str) -> None:
        """Begin: clocks are ahead by `shift` seconds, and the machine has the name `host`."""
        self._events: list[str] | None = None
        self._folders: Sequence[str] = ()
        moved = {"time": shift, "time_ns": shift * 10**9}
        for module, names in _SILENT:
            for name in names.split():
                if hasattr(module, name):
                    self._listen(module, name, moved.get(name, 0) if module is time else 0)
        for module, name in ((socket, "gethostname"), (platform, "node")):
            vars(module)[name] = self._heard(f"{module.__name__}.{name}", lambda: host)
        for name in ("environ", "environb"):
            setattr(os, name, _environment(getattr(os, name), self.hear))
        self._replace_clocks(dt.timedelta(seconds=shift))
        sys.addaudithook(self._audit)

    @contextmanager
    def listening(self, folders: Sequence[str]) -> Iterator[list[str]]:
        """Give the list of what is asked, which grows until the end of the block.

        What is below `folders` belongs to the program itself, as a table of data beside a module.
        """
        self._folders, self._events = folders, []
        try:
            yield self._events
        finally:
            self._events = None

    def hear(self, event: str, *arguments: Any) -> None:
        """Note an event, unless Python loads a module or its data by it."""
        if self._events is None or self._is_own(arguments) or _is_import(sys._getframe(1)):  # noqa: SLF001  # Python has no other way
            return
        self._events.append(event)

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._events is not None and event.startswith(_ASKS):
            self.hear(event, *arguments)

    def _is_own(self, arguments: tuple[Any, ...]) -> bool:
        path = arguments[0] if arguments else None
        text = os.fspath(path) if isinstance(path, str | os.PathLike) else ""
        return isinstance(text, str) and any(f"{text}/".startswith(f"{folder}/") for folder in self._folders)

    def _listen(self, module: ModuleType, name: str, more: int) -> None:
        original = getattr(module, name)
        heard = self._heard(f"{module.__name__}.{name}", original)
        vars(module)[name] = (lambda: heard() + more) if more else heard

    def _heard(self, event: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **keywords: Any) -> Any:
            self.hear(event, *arguments)
            return original(*arguments, **keywords)

        return call

    def _replace_clocks(self, shift: dt.timedelta) -> None:
        """Put classes with another clock in the place of those of `datetime`, for what is imported from now on."""
        hear, of_time, of_day = self.hear, dt.datetime, dt.date

        class DateTime(dt.datetime, metaclass=_Alike):
            @classmethod
            def now(cls, tz: Any = None) -> Any:
                hear("datetime.now")
                return of_time.now(tz) + shift

            @classmethod
            def utcnow(cls) -> Any:
                hear("datetime.utcnow")
                return of_time.now(dt.UTC).replace(tzinfo=None) + shift

            @classmethod
            def today(cls) -> Any:
                return cls.now()

        class Date(dt.date, metaclass=_Alike):
            @classmethod
            def today(cls) -> Any:
                hear("date.today")
                return of_day.today() + shift

        vars(dt).update(datetime=DateTime, date=Date)


class _Alike(type):
    """A class whose instances are those of the class that it stands for."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.__mro__[1])


def _environment(original: Any, hear: Callable[..., None]) -> Any:
    class Environment(type(original)):  # type: ignore[misc]  # which one it is, only Python knows
        def __getitem__(self, key: Any) -> Any:
            hear("os.environ")
            return super().__getitem__(key)

        def __iter__(self) -> Any:
            hear("os.environ")
            return super().__iter__()

    made = Environment.__new__(Environment)
    made.__dict__.update(original.__dict__)
    return made


def _is_import(frame: FrameType | None) -> bool:
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith("<frozen importlib") or "/importlib/" in name:
            return True
        frame = frame.f_back
    return False
