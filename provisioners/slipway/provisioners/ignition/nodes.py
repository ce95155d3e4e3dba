"""Files, directories and links."""

from collections.abc import Iterable, Mapping

from slipway.contract.paths import parents
from slipway.provisioners.ignition.document import Account, Directory, File, Link, Resource, Verification, resource
from slipway.sdk import RenderContext
from slipway.v1alpha1 import os_pb2 as ospb

_ROOT = "root"
_SPECIAL_BITS = 0o7000
_DEFAULT_MODE = 0o644
_PARENT_MODE = 0o755


class Nodes:
    """Collects what is to be on disk, one node for each path, and refuses what Ignition would trip over."""

    def __init__(self, ctx: RenderContext, *, links: Iterable[str], late: Mapping[str, str], spec2: bool) -> None:
        """Start empty.

        Args:
            ctx: where refusals go.
            links: paths of all links; Ignition writes nothing through a link of its own config.
            late: mount points that Ignition does not mount itself, with the field paths of their mounts; what it wrote
                there would be hidden later.
            spec2: the stricter rules of spec 2 hold.

        `places` has field path and feature of what wants to be at a path.
        """
        self._ctx = ctx
        self._links = frozenset(links)
        self._late = late
        self._spec2 = spec2
        self._data: dict[str, bytes] = {}
        self.places: dict[str, tuple[str, str]] = {}
        self.files: dict[str, File] = {}
        self.directories: dict[str, Directory] = {}
        self.links: dict[str, Link] = {}

    @property
    def paths(self) -> frozenset[str]:
        """All paths that are taken."""
        return frozenset({*self.files, *self.directories, *self.links})

    def add_file(self, file: ospb.File, where: str) -> None:
        """Add a file of the bundle; `where` is its field path."""
        if not self._fits(file.path, file.mode, where, "os.files"):
            return
        if file.append:
            self._append(file, where)
        elif self._is_taken(file.path):
            self._ctx.refuse(where, "os.files", "another entry has the same path")
        else:
            self.files[file.path] = File(
                path=file.path,
                user=_account(file.owner),
                group=_account(file.group),
                overwrite=True,
                mode=file.mode,
                contents=self._remote(file, where) if file.HasField("remote") else self._inline(file, where),
            )

    def add_directory(self, directory: ospb.Directory, where: str) -> None:
        """Add a directory of the bundle."""
        if self._spec2 and (directory.owner != _ROOT or directory.group != _ROOT or directory.mode != _PARENT_MODE):
            # Spec 2 gives owner and mode to every parent that it makes as well.
            self._ctx.refuse(where, "os.directories", "this spec would give its owner and mode to new parents")
        elif self._is_taken(directory.path):
            self._ctx.refuse(where, "os.directories", "another entry has the same path")
        elif self._fits(directory.path, directory.mode, where, "os.directories"):
            self.directories[directory.path] = Directory(
                path=directory.path,
                user=_account(directory.owner),
                group=_account(directory.group),
                mode=directory.mode,
            )

    def add_link(self, link: ospb.Link, where: str) -> None:
        """Add a link of the bundle."""
        if self._is_taken(link.path):
            self._ctx.refuse(where, "os.links", "another entry has the same path")
        elif link.hard and link.target in self.directories:
            self._ctx.refuse(where, "os.links.hard", "Ignition makes no hard link to a folder")
        elif self._fits(link.path, 0, where, "os.links"):
            self.links[link.path] = Link(
                path=link.path,
                user=None if link.hard else _account(link.owner),
                group=None if link.hard else _account(link.group),
                overwrite=True,
                target=link.target,
                hard=link.hard or None,
            )

    def add_own(self, path: str, data: bytes, *, mode: int, where: str, feature: str) -> None:
        """Add a file that stands for another item; `where` and `feature` name that item."""
        if self._is_taken(path):
            self._ctx.refuse(where, feature, "a file of the bundle has the path that it would be written to")
        else:
            self.places[path] = (where, feature)
            self.files[path] = File(path=path, overwrite=True, mode=mode, contents=resource(data))

    def _inline(self, file: ospb.File, where: str) -> Resource:
        """Give all the data for a file's path so far, that of `file` included, in one piece."""
        data = self._ctx.content(file.content, f"{where}.content")
        self._data[file.path] = self._data.get(file.path, b"") + data
        return resource(self._data[file.path])

    def _append(self, file: ospb.File, where: str) -> None:
        there = self.files.get(file.path)
        plain = file.owner == _ROOT and file.group == _ROOT and file.mode == _DEFAULT_MODE
        if file.HasField("remote") or (there is not None and file.path not in self._data):
            self._ctx.refuse(where, "os.files.append", "a download cannot be joined with anything")
        elif there is not None:
            key = "contents" if there.contents else "append"
            whole = self._inline(file, where)
            self.files[file.path] = there.model_copy(update={key: whole if there.contents else [whole]})
        elif plain and not self._spec2:
            # Nothing else is said, so an existing file keeps its mode and owner and a new one gets these.
            self.files[file.path] = File(path=file.path, append=[self._inline(file, where)])
        else:
            self._ctx.refuse(where, "os.files.append", "mode and owner would not be right for a new file")

    def _remote(self, file: ospb.File, where: str) -> Resource | None:
        remote = file.remote
        hash_ = f"sha512-{remote.sha512}" if remote.sha512 else f"sha256-{remote.sha256}" if remote.sha256 else ""
        if len(remote.urls) > 1:
            self._ctx.refuse(where, "os.files.remote", "Ignition takes one URL only")
        elif self._spec2 and hash_.startswith("sha256-"):
            self._ctx.refuse(where, "os.files.remote", "this spec knows SHA-512 only")
        else:
            return Resource(source=remote.urls[0], verification=Verification(hash=hash_.lower()) if hash_ else None)
        return None

    def _is_taken(self, path: str) -> bool:
        """Return whether an entry has the path already; a set of all of them would be made anew for each entry."""
        return path in self.files or path in self.directories or path in self.links

    def _fits(self, path: str, mode: int, where: str, feature: str) -> bool:
        above = parents(path)[1:]
        mount = next((self._late[point] for point in [*above, path] if point in self._late), "")
        problem = ""
        if mode & _SPECIAL_BITS:
            problem = "Ignition ignores setuid, setgid and sticky bits"
        elif not self._links.isdisjoint(above):
            problem = "Ignition writes nothing through a link of the bundle"
        elif mount:
            problem = f"lies on {mount}, which is mounted after Ignition has written its files"
        if problem:
            self._ctx.refuse(where, feature, problem)
            return False
        self.places.setdefault(path, (where, feature))
        return True


def _account(name: str) -> Account | None:
    """Give an owner; root is what Ignition takes by itself."""
    if name == _ROOT:
        return None
    return Account(id=int(name)) if name.isdecimal() else Account(name=name)
