"""A wave on Linux: staged files, and the list from which the static installer puts them where they belong.

The list's grammar stands in programs/install.sh. No secret and no content is ever in it: contents are files
of their own, whose segments the provisioner resolves.
"""

from collections.abc import Iterator

from slipway.bootstrapper.lowering.runners.linux_file import INSTALL_PROGRAM, ROOT, root_file
from slipway.bootstrapper.lowering.runners.pieces import SplicedFact, pieces, place
from slipway.bootstrapper.lowering.runners.wave import Wave
from slipway.contract.content import literal
from slipway.contract.errors import BundleInvalid, Violation
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb

_LETTERS = {contentpb.SPLICE_ENCODING_JSON_STRING: "j", contentpb.SPLICE_ENCODING_BASE64: "b"}


def install_argv(wave_id: str) -> list[str]:
    """Give the command that installs a wave."""
    return ["sh", INSTALL_PROGRAM, wave_id]


def install_step(wave: Wave, *, retries: int = 0) -> planpb.Step:
    """Give the step that installs a wave; with `retries` one that downloads something is tried again so often."""
    command = planpb.Command(argv=install_argv(wave.id))
    if retries and any(file.HasField("remote") for file in wave.files):
        command.retries = retries
    return planpb.Step(id=wave.id, phase=planpb.PHASE_PREPARE, command=command)


def stage_files(wave: Wave) -> Iterator[ospb.File]:
    """Give the files of a wave: its parts, then its list.

    Raises:
        BundleInvalid: a path, link target, owner or URL cannot stand on one line.
        UnsupportedFeature: a file holds imported template text.
    """
    listing = _Listing(wave.id)
    for directory in wave.directories:
        listing.owner(directory.owner, directory.group, directory.origin)
        listing.item("d", f"{directory.mode:04o}", directory.path, directory.origin)
    for file in wave.files:
        yield from listing.content(file)
        listing.owner(file.owner, file.group, file.origin)
        listing.item("a" if file.append else "f", f"{file.mode:04o}", file.path, file.origin)
    for link in wave.links:
        listing.line("t", link.target, link.origin)
        listing.owner(link.owner, link.group, link.origin)
        listing.item("h" if link.hard else "s", "-", link.path, link.origin)
    yield root_file(f"{ROOT}/stage/{wave.id}/list", literal("".join(listing.lines).encode()))


class _Listing:
    """The orders of one wave, as they come to be."""

    def __init__(self, wave_id: str) -> None:
        self.lines: list[str] = []
        self._folder = f"{ROOT}/stage/{wave_id}"
        self._parts = 0

    def content(self, file: ospb.File) -> Iterator[ospb.File]:
        """Order the content of a file; give the parts that have to be staged."""
        if file.HasField("remote"):
            yield from self._remote(file)
        else:
            yield from self._assemble(file.content, file.origin)

    def _assemble(self, content: contentpb.Content, origin: diagnosticpb.Origin) -> Iterator[ospb.File]:
        """Order that a content is put together; give its parts."""
        for piece in pieces(content, origin):
            if isinstance(piece, SplicedFact):
                self.line(_LETTERS.get(piece.encoding, "r"), piece.name, origin)
                continue
            self._parts += 1
            self.line("p", str(self._parts), origin)
            yield root_file(f"{self._folder}/{self._parts}", piece, origin)

    def _remote(self, file: ospb.File) -> Iterator[ospb.File]:
        """Order that a content is downloaded; give the parts of what vouches for its servers."""
        remote = file.remote
        if remote.HasField("ca"):
            yield from self._assemble(remote.ca, file.origin)
            self.line("c", "-", file.origin)
        algorithm, digest = ("sha512", remote.sha512) if remote.sha512 else ("sha256", remote.sha256)
        for url in remote.urls:
            self.line("g", f"{algorithm} {digest.lower() or '-'} {url}", file.origin)

    def owner(self, owner: str, group: str, origin: diagnosticpb.Origin) -> None:
        """Order the owner of the next item, unless it is root."""
        if (owner, group) != ("root", "root"):
            self.line("o", f"{owner}:{group}", origin)

    def item(self, letter: str, mode: str, path: str, origin: diagnosticpb.Origin) -> None:
        """Order an item itself."""
        bare = path.rstrip("/")
        if not bare.startswith("/"):
            raise _invalid(origin, "must have an absolute path other than the root's")
        self.line(letter, f"{mode} {bare}", origin)

    def line(self, letter: str, rest: str, origin: diagnosticpb.Origin) -> None:
        """Add one line."""
        if not rest or "\n" in rest or "\0" in rest:
            raise _invalid(origin, "must have path, owner, target and URL on one line")
        self.lines.append(f"{letter} {rest}\n")


def _invalid(origin: diagnosticpb.Origin, problem: str) -> BundleInvalid:
    return BundleInvalid(f"{place(origin)}: a staged item {problem}", violations=[Violation(place(origin), problem)])
