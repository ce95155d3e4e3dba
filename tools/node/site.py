"""A place for machines: a network of their own that no packet leaves, and an end that ends them all.

The keeper process does the work; this is the handle that a test, a demo or a person holds.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import fcntl
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tools.node import cgroups, first_disk, keeper
from tools.node.first_disk import FirstDisk, Store
from tools.node.flavours import FLAVOURS, Flavour
from tools.node.machine import Machine
from tools.node.process import Process
from tools.oracles import cache, roots
from tools.oracles.failures import EngineBroken

PREFIX = "slipway-site-"
_END_SECONDS = 60.0


@dataclasses.dataclass(slots=True)
class Site:
    """An open site; use ``opened``, or ``reopened`` for one that stays."""

    folder: Path
    keeper: Process
    init: int
    machines: dict[str, Machine] = dataclasses.field(default_factory=dict)
    stays: bool = False
    _held: subprocess.Popen[bytes] | None = None
    _servers: list[subprocess.Popen[bytes]] = dataclasses.field(default_factory=list)

    def machine(self, name: str, *, flavour: str = "1.34", **wishes: object) -> Machine:
        """A machine that was never booted; it takes the place of one of this name, as in the second try of a test.

        Args:
            name: its host name.
            flavour: one of ``FLAVOURS``.
            wishes: further attributes of ``FirstDisk``.
        """
        kind: Flavour = FLAVOURS[flavour]
        kind.require(store=wishes.get("store") is not Store.EMPTY)
        if name in self.machines:
            self.machines[name].destroy()
        number = max((machine.number for machine in self.machines.values()), default=0) + 1
        first = FirstDisk(name=name, number=number, flavour=kind, **wishes)  # type: ignore[arg-type]  # the caller names attributes of FirstDisk
        self.machines[name] = Machine(self.folder, self.init, first)
        return self.machines[name]

    def serve(self, *command: str) -> None:
        """Starts a program in the network between the machines, at the gateway's address; it ends with the site.

        What it prints goes to the file ``served`` of the site's folder.
        """
        inside = ("nsenter", f"--target={self.init}", "--mount", "--net", "--pid", "--", *command)
        with (self.folder / "served").open("ab") as log:
            self._servers.append(subprocess.Popen(inside, stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    @property
    def served(self) -> str:
        """What the programs of ``serve`` have printed so far."""
        return (self.folder / "served").read_text(encoding="utf-8", errors="replace")

    def stay(self) -> None:
        """Makes the site outlive this process; ``close`` by anybody ends it."""
        if self._held and self._held.stdin:
            self._held.stdin.write(keeper.STAY)
            self._held.stdin.flush()
            self.stays = True

    def close(self) -> None:
        """Ends all machines and removes everything."""
        ending = self.keeper.held()
        if ending is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(ending, signal.SIGTERM)
                select.select([ending], [], [], _END_SECONDS)
            os.close(ending)
        if self._held:
            self._held.wait(_END_SECONDS)
            for pipe in (self._held.stdin, self._held.stdout):
                if pipe:
                    pipe.close()
        for machine in self.machines.values():
            machine.forget()
        for server in self._servers:
            server.wait()


def require() -> None:
    """Does nothing on a machine that can hold a site.

    Raises:
        EngineBroken: it cannot, for what it is; the message says what to do.
        EngineMissing: a Debian package is not installed.
    """
    if os.geteuid():
        raise EngineBroken("only root can boot machines: run this as root")
    if not cgroups.available():
        raise EngineBroken(cgroups.REFUSAL)
    roots.require_packages(("systemd-container",), "roots")


@contextlib.contextmanager
def opened() -> Iterator[Site]:
    """Gives an empty site, and ends it afterwards, unless it was told to stay and nothing went wrong.

    Raises:
        EngineBroken, EngineMissing: this machine cannot hold one; as ``require``.
    """
    require()
    home = cache.directory() / "sites"
    home.mkdir(parents=True, exist_ok=True)
    _sweep(home)
    with cache.locked("sites"):
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=home))
        folder.chmod(0o755)
        first_disk.write_layer(folder / "layer")
        with (folder / "log").open("wb") as log:
            held = subprocess.Popen(
                [sys.executable, "-m", keeper.__name__, folder],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, start_new_session=True,
            )  # fmt: skip
        if not held.stdout or not held.stdout.readline():
            held.wait()
            raise EngineBroken("a site could not be opened")
    site = _read(folder)
    site._held = held  # noqa: SLF001 its own module
    try:
        yield site
    except BaseException:
        site.close()
        raise
    if not site.stays:
        site.close()


def reopened(folder: Path) -> Site:
    """The handle of a site that stays.

    Raises:
        FileNotFoundError: it has ended, whatever its files still say.
    """
    return _read(folder)


def _sweep(home: Path) -> None:
    """Removes what a killed keeper left: a site whose lock nobody holds."""
    with cache.locked("sites"):
        for folder in home.glob(f"{PREFIX}*"):
            with contextlib.suppress(OSError), (folder / keeper.ALIVE).open("a") as handle:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                cgroups.remove(f"{folder.name}-")
                cache.discard(folder)


def _alive(folder: Path) -> bool:
    """Whether a keeper holds the site's lock."""
    with (folder / keeper.ALIVE).open() as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _read(folder: Path) -> Site:
    ended = FileNotFoundError(errno.ENOENT, "the site has ended", str(folder))
    if not _alive(folder):
        raise ended
    state = json.loads((folder / keeper.STATE).read_text(encoding="utf-8"))
    holder, init = Process(**state["keeper"]), Process(**state["init"])
    if not (holder.there and init.there):
        raise ended
    site = Site(folder, keeper=holder, init=init.pid)
    for order in folder.glob("*/order.json"):
        known = json.loads(order.read_text(encoding="utf-8"))
        site.machines[known["name"]] = Machine(
            site.folder, site.init, FirstDisk(name=known["name"], number=known["number"])
        )
    return site


def keep_standing(place: Site) -> None:
    """Makes a site the one that outlives its command, so that a person can look around, and writes down which it is."""
    place.stay()
    _standing_note().write_text(str(place.folder), encoding="utf-8")


def find_standing() -> Site | None:
    """The site that stays, if it is still there."""
    with contextlib.suppress(FileNotFoundError):
        return reopened(Path(_standing_note().read_text(encoding="utf-8")))
    return None


def end_standing() -> bool:
    """Ends it; whether there was one."""
    place = find_standing()
    if place:
        place.close()
    _standing_note().unlink(missing_ok=True)
    return place is not None


def _standing_note() -> Path:
    return cache.directory() / "standing-site"
