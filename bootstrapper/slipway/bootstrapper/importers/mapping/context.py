"""What is known about the machine while its config is carried over, and how text of the config is to be read.

cloud-config is Jinja to cloud-init; in ignition a pre-command may fill kubeadm's file. Both are decided once for
the whole config, here, and every text goes through one of the readers below.

One infrastructure provider executes user data as a Go template on their way to the machine. What cloud-init is to fill
in stands there as a Go string, which the provider hands on: {{ `{{ v1.instance_id }}` }}. Here it becomes what
cloud-init gets to see; what the provider fills in itself stays as it is.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from slipway.bootstrapper.importers import jinja
from slipway.bootstrapper.importers.jinja import CLOUD_CONFIG_INDENT, Piece
from slipway.bootstrapper.importers.mapping.literal_block import from_literal_block, pieces_from_literal_block
from slipway.bootstrapper.importers.mapping.place import Findings, Place
from slipway.bootstrapper.importers.metadata_variables import FilledIn
from slipway.bootstrapper.lowering.fact_table import read_row
from slipway.bootstrapper.lowering.facts import has_source
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import secret_pb2 as secretpb

_Kind: TypeAlias = "contentpb.FactKind.ValueType"

CLOUD_CONFIG = "cloud-config"
IGNITION = "ignition"
FORMATS = (CLOUD_CONFIG, IGNITION)
"""Formats that a config may be written for."""
_JINJA = "cloud-init.slipway.dev/jinja"
"""Id of the texts that cloud-init renders on the machine."""
_OPENING = re.compile(r"\{[{%#]|\{\Z")
"""What opens Jinja, or would before more of it."""
_FILLED_IN = re.compile(r"[$@%]")

_NOT_OF_EVERY_MACHINE = frozenset({contentpb.FACT_KIND_PUBLIC_IPV4, contentpb.FACT_KIND_IPV6})
"""Facts that a machine may lack where others have them. A machine stops without a fact that it needs; today cloud-init
writes CI_MISSING_JINJA_VAR in its place and goes on."""


_OF_THE_MACHINE = "a value that only the machine knows cannot be carried over here"
_BY_COMMAND = (
    "write the value itself, or have a command of preKubeadmCommands set it: cloud-init fills in what is there"
)
_IN_PLACE = "write the value itself"

EXECUTES = "equinix"
"""The infrastructure whose provider does. Source: the client of Cluster API Provider Packet."""

_QUOTED = re.compile(r"\{\{ *`(\{\{[^`{}]{1,200}\}\})` *\}\}")


@dataclass(frozen=True)
class Context:
    """One config that is being carried over.

    Attributes:
        format: the format that the config was written for.
        role: what the machine is to be.
        target: what the machine is, as far as known.
        cluster: the cluster, as far as known.
        control_plane_version: Kubernetes version of the control plane, or "".
        secrets: values of the user's Secrets by (name, key), as far as known.
        set_missing: those that are not known will get a placeholder.
        whole: the target is all that will be known of the machine, so Jinja for a fact that it cannot find out
            stays Jinja: cloud-init renders it as it does today.
        facts: Jinja that means a machine fact becomes one; else all of it stays Jinja.
        findings: where findings go.
        filled: what pre-commands fill into kubeadm's file.
        derived: secrets that were made of the user's, such as a decoded one.
    """

    format: str
    role: clusterpb.Role.ValueType
    target: clusterpb.Target
    cluster: clusterpb.Cluster
    control_plane_version: str
    secrets: Mapping[tuple[str, str], bytes] = field(repr=False)
    set_missing: bool
    findings: Findings
    whole: bool = False
    facts: bool = True
    filled: FilledIn = field(default_factory=FilledIn)
    derived: list[secretpb.Secret] = field(default_factory=list, repr=False)

    @property
    def windows(self) -> bool:
        """Whether the machine runs Windows."""
        return self.target.os_family == clusterpb.OS_FAMILY_WINDOWS

    def plain(self, place: Place, text: str, *, remedy: str = _BY_COMMAND) -> str:
        """Read a text that has to be known now."""
        parts = self._pieces(place, text)
        if any(part.fact is not None or part.template is not None for part in parts):
            self.findings.refuse(place, f"{_OF_THE_MACHINE}; {remedy}")
            return text
        return "".join(part.text for part in parts)

    def is_of_machine(self, text: str) -> bool:
        """Return whether a text holds what only the machine knows."""
        if self.format != CLOUD_CONFIG:
            return False
        try:
            parts = jinja.pieces(text, infrastructure=self.target.infrastructure)
        except jinja.NotJinja:
            return False
        return any(part.fact is not None or part.template is not None for part in parts)

    def as_jinja(self, place: Place, text: str, *, indent: str = "") -> str:
        """Read a text that cloud-init will render as a whole, with its facts; what is no Jinja means itself there."""
        return _written(self._pieces(place, text, indent=indent, takes=_none)) if jinja.has_jinja(text) else text

    def content_as_jinja(self, place: Place, text: str) -> str:
        """Read a file's content as ``as_jinja`` does, which today's provider puts into a literal block."""
        text = text.replace("\r\n", "\n")
        if not jinja.has_jinja(text):
            return from_literal_block(text)
        parts = self._pieces(place, text, indent=CLOUD_CONFIG_INDENT, takes=_none)
        return _written(pieces_from_literal_block(parts))

    def plain_in_kubeadm(self, place: Place, text: str) -> str:
        """Read a text of kubeadm's file that has to be known now."""
        if any(part.fact is not None for part in self.filled.pieces(text) or []):
            self.findings.refuse(place, f"{_OF_THE_MACHINE}; {_IN_PLACE}")
        return self.plain(place, text, remedy=_IN_PLACE)

    def machine_text(self, place: Place, text: str) -> contentpb.MachineText:
        """Read a text of kubeadm's file that may depend on the machine."""
        parts = self._kubeadm_pieces(place, text)
        if self.findings.bound_by and _FILLED_IN.search(text):
            # A command of the config completes this text on the machine; until then it need not fit any grammar.
            return contentpb.MachineText(segments=_text_segments(parts))
        if all(part.fact is None and part.template is None for part in parts):
            return contentpb.MachineText(value="".join(part.text for part in parts))
        return contentpb.MachineText(segments=_text_segments(parts))

    def argument(self, place: Place, name: str, value: str) -> kubernetespb.Argument:
        """Read an argument, which is named by its value's place: in v1beta1 its name is a key."""
        name = self.plain_in_kubeadm(place, name)
        text = self.machine_text(place, value)
        if text.segments:
            return kubernetespb.Argument(name=name, segments=text.segments)
        return kubernetespb.Argument(name=name, value=text.value)

    def content(self, place: Place, text: str) -> contentpb.Content:
        """Read a command, which today's provider puts into quotes."""
        return _content(self._pieces(place, text))

    def file_content(self, place: Place, text: str) -> contentpb.Content:
        """Read a file's content, which today's provider puts into a literal block."""
        parts = self._pieces(place, text.replace("\r\n", "\n"), indent=CLOUD_CONFIG_INDENT)
        return _content(pieces_from_literal_block(parts))

    def _pieces(
        self, place: Place, text: str, *, indent: str = "", takes: Callable[[_Kind], bool] | None = None
    ) -> list[Piece]:
        if self.format != CLOUD_CONFIG:
            return [Piece(text=text)]
        try:
            infrastructure = self.target.infrastructure
            return jinja.pieces(text, infrastructure=infrastructure, indent=indent, takes=takes or self._takes)
        except jinja.NotJinja:
            message = "looks like Jinja but is invalid, and cloud-init would skip it: kept as it is"
            self.findings.warn(place, "NOT_JINJA", message)
            return [Piece(text=text)]

    def _takes(self, kind: _Kind) -> bool:
        """Tell whether a fact can be found on the machine; on Windows nothing else can be done with Jinja."""
        if not self.whole or self.windows:
            return True
        if not self.facts:
            return False
        target = clusterpb.Target(os_family=clusterpb.OS_FAMILY_LINUX, infrastructure=self.target.infrastructure)
        if target.infrastructure == EXECUTES:
            # Jinja would be executed by the provider, as a template of another language.
            return read_row(kind, target, media_type="text/cloud-config") is not None
        return kind not in _NOT_OF_EVERY_MACHINE and has_source(kind, target)

    def _kubeadm_pieces(self, place: Place, text: str) -> list[Piece]:
        if self.format == CLOUD_CONFIG:
            return self._pieces(place, text)
        return self.filled.pieces(text) or [Piece(text=text)]


def _written(parts: Sequence[Piece]) -> str:
    """Give the Jinja that has these pieces; what stands in no template means itself."""
    return "".join(part.template if part.template is not None else _OPENING.sub(_quoted, part.text) for part in parts)


def _none(_kind: _Kind) -> bool:
    """Take no name for a fact."""
    return False


def _quoted(mark: re.Match[str]) -> str:
    return "{{ '" + mark[0] + "' }}"


def _text_segments(parts: list[Piece]) -> list[contentpb.TextSegment]:
    return [
        contentpb.TextSegment(fact=contentpb.MachineFact(kind=part.fact))
        if part.fact is not None
        else contentpb.TextSegment(extension=_jinja(part.template))
        if part.template is not None
        else contentpb.TextSegment(text=part.text)
        for part in parts
    ]


def _content(parts: list[Piece]) -> contentpb.Content:
    if all(part.fact is None and part.template is None for part in parts):
        return contentpb.Content(text="".join(part.text for part in parts))
    return contentpb.Content(segments=map(_segment, parts))


def _segment(part: Piece) -> contentpb.Segment:
    if part.fact is not None:
        return contentpb.Segment(fact=contentpb.MachineFact(kind=part.fact))
    if part.template is not None:
        return contentpb.Segment(extension=_jinja(part.template))
    return contentpb.Segment(text=part.text)


def _jinja(text: str) -> contentpb.ExtensionText:
    return contentpb.ExtensionText(id=_JINJA, text=text)


def unquoted(tree: Any) -> Any:
    """Give a config with every quoted expression of cloud-init's as that expression."""
    if isinstance(tree, str):
        return _QUOTED.sub(r"\1", tree)
    if isinstance(tree, dict):
        return {key: unquoted(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [unquoted(value) for value in tree]
    return tree
