"""With ignition nothing renders templates, so people let a command fill the node's name into kubeadm's file.

Two idioms are found in real templates. One writes `${COREOS_EC2_HOSTNAME}` and runs envsubst over
/etc/kubeadm.yml, with the variables of Flatcar's metadata agent in the environment; the other writes
`@@HOSTNAME@@` and runs sed with what the metadata service says. Both mean a machine fact, and are read as
one; then the commands are not needed any more. What is not exactly such an idiom is left as it is.

Source of the variables: the attribute list of afterburn (coreos-metadata).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from slipway.bootstrapper.importers.jinja import Piece
from slipway.v1alpha1 import content_pb2 as contentpb

_ENVSUBST = re.compile(r"envsubst\s+<\s*(/etc/kubeadm\.yml)\s+>\s*(?P<copy>/[\w./-]+)")
_MOVE = re.compile(r"mv\s+(?:-f\s+)?(?P<copy>/[\w./-]+)\s+/etc/kubeadm\.yml")
_WITHOUT_DOMAIN = re.compile(r"export\s+COREOS_OPENSTACK_HOSTNAME=\"?\$\{COREOS_OPENSTACK_HOSTNAME%%\.\*\}\"?")
_EXPORT = re.compile(r"export\s+(?P<name>(?:COREOS|AFTERBURN)_\w+)=\S*")
_SAME = re.compile(r"export\s+(?P<name>\w+)(?:=\"?\$\{?(?P=name)\}?\"?)?")
_ASSIGNED = re.compile(r"(?:^|[;&\s])((?:COREOS|AFTERBURN)_\w+)=")
_SED = re.compile(
    r"sed\s+-i\s+(?:-e\s+)?(?P<quote>[\"'])s(?P<by>[/#|,])(?P<mark>@@\w+@@)(?P=by)(?P<value>.+)(?P=by)g?(?P=quote)"
    r"\s+/etc/kubeadm\.yml"
)
_VARIABLE = re.compile(r"\$\{(\w+)\}|\$(\w+)")
_MARK = re.compile(r"@@\w+@@")
_AGENT = re.compile(r"(?:COREOS|AFTERBURN)_(?P<provider>[A-Z0-9]+)_(?P<what>\w+)")

_ATTRIBUTES = {
    "HOSTNAME": contentpb.FACT_KIND_HOSTNAME,
    "LOCAL_HOSTNAME": contentpb.FACT_KIND_LOCAL_HOSTNAME,
    "INSTANCE_ID": contentpb.FACT_KIND_INSTANCE_ID,
    "INSTANCE_UUID": contentpb.FACT_KIND_INSTANCE_ID,
    "IPV4_LOCAL": contentpb.FACT_KIND_PRIVATE_IPV4,
    "IPV4_PRIVATE_0": contentpb.FACT_KIND_PRIVATE_IPV4,
    "IPV4_DYNAMIC": contentpb.FACT_KIND_PRIVATE_IPV4,
    "IP_LOCAL_0": contentpb.FACT_KIND_PRIVATE_IPV4,
    "IPV4_PUBLIC": contentpb.FACT_KIND_PUBLIC_IPV4,
    "IPV4_PUBLIC_0": contentpb.FACT_KIND_PUBLIC_IPV4,
    "IP_EXTERNAL_0": contentpb.FACT_KIND_PUBLIC_IPV4,
    "IPV6": contentpb.FACT_KIND_IPV6,
    "REGION": contentpb.FACT_KIND_REGION,
    "AVAILABILITY_ZONE": contentpb.FACT_KIND_AVAILABILITY_ZONE,
    "INSTANCE_TYPE": contentpb.FACT_KIND_INSTANCE_TYPE,
}
_SED_VALUES = [
    (re.compile(r"meta-data/local-hostname"), contentpb.FACT_KIND_LOCAL_HOSTNAME),
    (re.compile(r"meta-data/hostname|compute\.name|compute/name"), contentpb.FACT_KIND_HOSTNAME),
    (re.compile(r"meta-data/instance-id"), contentpb.FACT_KIND_INSTANCE_ID),
    (re.compile(r"meta-data/local-ipv4"), contentpb.FACT_KIND_PRIVATE_IPV4),
    (re.compile(r"meta-data/placement/availability-zone"), contentpb.FACT_KIND_AVAILABILITY_ZONE),
    (re.compile(r"meta-data/placement/region"), contentpb.FACT_KIND_REGION),
]


@dataclass(frozen=True)
class FilledIn:
    """What pre-commands fill into kubeadm's file.

    Attributes:
        commands: indices of the commands that do it.
        environment: the file's `${VARIABLES}` are replaced.
        marks: `@@MARKS@@` that are replaced, with what they mean.
        short: OpenStack's host name loses its domain first.
        assigned: variables that other commands set, so that nobody knows their value.
        texts: further text of the config in which a variable of one's own may be defined.
    """

    commands: tuple[int, ...] = ()
    environment: bool = False
    marks: dict[str, contentpb.FactKind.ValueType] = field(default_factory=dict)
    short: bool = False
    assigned: frozenset[str] = frozenset()
    texts: tuple[str, ...] = ()

    def pieces(self, text: str) -> list[Piece] | None:
        """Split a text of kubeadm's file into literal parts and facts; None if a part of it means no fact."""
        result: list[Piece] = []
        position = 0
        facts: dict[str, contentpb.FactKind.ValueType | None] = {}
        for match in self._replaced(text):
            if match[0] not in facts:
                facts[match[0]] = self._fact(match)
            fact = facts[match[0]]
            if fact is None:
                return None
            if match.start() > position:
                result.append(Piece(text=text[position : match.start()]))
            result.append(Piece(fact=fact))
            position = match.end()
        return [*result, Piece(text=text[position:])] if text[position:] else result

    def _replaced(self, text: str) -> list[re.Match[str]]:
        variables = list(_VARIABLE.finditer(text)) if self.environment else []
        marks = [match for match in _MARK.finditer(text) if match[0] in self.marks]
        return sorted([*variables, *marks], key=lambda match: match.start())

    def _fact(self, match: re.Match[str]) -> contentpb.FactKind.ValueType | None:
        if match[0] in self.marks:
            return self.marks[match[0]]
        name = match[1] or match[2]
        if name in self.assigned:
            return None
        if self.short and name == "COREOS_OPENSTACK_HOSTNAME":
            return contentpb.FACT_KIND_SHORT_HOSTNAME
        return variable_fact(name, texts=self.texts)


def filled_in(commands: Sequence[str], *, texts: Iterable[str] = ()) -> FilledIn:
    """Recognise the idioms among the commands that run before kubeadm.

    Args:
        commands: the commands.
        texts: contents of files and units of the same config.
    """
    lines = [command.strip() for command in commands]
    environment = _environment(lines)
    lines_in_use = environment
    marks: dict[str, contentpb.FactKind.ValueType] = {}
    for index, line in enumerate(lines):
        match = _SED.fullmatch(line)
        fact = next((kind for pattern, kind in _SED_VALUES if pattern.search(match["value"])), None) if match else None
        if match and fact is not None:
            marks[match["mark"]] = fact
            lines_in_use = [*lines_in_use, index]
    short = [index for index, line in enumerate(lines) if _WITHOUT_DOMAIN.fullmatch(line)]
    return FilledIn(
        commands=tuple(sorted({*lines_in_use, *(_exports(lines, lines_in_use) if environment else ())})),
        environment=bool(environment),
        marks=marks,
        short=bool(short),
        assigned=_assigned(
            line for index, line in enumerate(lines) if index not in short and not _SAME.fullmatch(line)
        ),
        texts=tuple(texts),
    )


def variable_fact(name: str, *, texts: Iterable[str] = ()) -> contentpb.FactKind.ValueType | None:
    """Give the fact that a variable of the metadata agent means, or None.

    COREOS_CUSTOM_... are made by a unit of the config itself; the host name among them is known when that
    unit takes it from the metadata's local host name.
    """
    match = _AGENT.fullmatch(name)
    if match is None:
        return None
    if match["provider"] == "CUSTOM":
        defined = any(name + "=" in text and re.search(r"local[-_]hostname", text) for text in texts)
        return contentpb.FACT_KIND_LOCAL_HOSTNAME if defined and match["what"] == "HOSTNAME" else None
    return _ATTRIBUTES.get(match["what"])


def _environment(lines: Sequence[str]) -> list[int]:
    """Give the commands that run envsubst over kubeadm's file and put the result back in its place."""
    # By copy, the first command behind the present one that moves it back.
    moves: dict[str, int] = {}
    result: list[int] = []
    for index, line in reversed(list(enumerate(lines))):
        one_line = [part.strip() for part in line.split("&&")]
        copy = _written_copy(one_line[0])
        if len(one_line) == 2 and copy and copy == _moved_copy(one_line[1]):  # noqa: PLR2004 - envsubst && mv
            result = [index]
        elif len(one_line) == 1 and copy in moves:
            result = [index, moves[copy]]
        if moved := _moved_copy(line):
            moves[moved] = index
    return result


def _written_copy(command: str) -> str:
    written = _ENVSUBST.fullmatch(command)
    return written["copy"] if written else ""


def _moved_copy(command: str) -> str:
    moved = _MOVE.fullmatch(command)
    return moved["copy"] if moved else ""


def _exports(lines: Sequence[str], lines_in_use: Sequence[int]) -> list[int]:
    """Give commands that export a variable which no other command uses: envsubst alone needed it."""
    exports = {index: match["name"] for index, line in enumerate(lines) if (match := _EXPORT.fullmatch(line))}
    others = " ".join(line for index, line in enumerate(lines) if index not in exports and index not in lines_in_use)
    words = set(re.findall(r"\w+", others))
    return [index for index, name in exports.items() if name not in words]


def _assigned(lines: Iterable[str]) -> frozenset[str]:
    return frozenset(name for line in lines for name in _ASSIGNED.findall(line))
