"""Something that is wrong with a machine's bundle, as data: a program never has to read its text."""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from dataclasses import field as attribute
from enum import Enum

from slipway.contract.source_position import with_remedy
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1.reasons import Reason

OF_MACHINE = frozenset({Reason.KUBERNETES_VERSION_UNSUPPORTED, Reason.UNSUPPORTED_TARGET})
"""Reasons for which a machine as a whole is refused."""

_FACTS = ("intent.cluster", "intent.role", "intent.kubernetes_version", "machine", "target")
"""Fields of a bundle that are facts of machine and cluster: a problem with one of them concerns the machine."""


class Severity(Enum):
    """How much a problem matters. Only the last keeps a machine from its user data; the others are diagnostics."""

    INFO = diagnosticpb.SEVERITY_INFO
    WARNING = diagnosticpb.SEVERITY_WARNING
    ERROR = diagnosticpb.SEVERITY_UNSPECIFIED
    """No diagnostic says it: an error is one of the table."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, where, and what the user can do about it. An error cannot be made without the last.

    Attributes:
        feature: id of the feature that is asked for; the item's, where it is about an item.
        path: field path in the bundle; "" for the machine as a whole.
        message: what is wrong, never a value. Where there is a `field`, the sentence begins with it.
        remedy: what the user can do: a sentence, or the beginning of one, without its dot.
        origin: where the user wrote the item.
        code: code of the diagnostic that it becomes, or a reason of the error table.
        severity: an error where the machine is refused.
        field: path of the field within the item, as a person writes it; "" where it is the item's.
        part: feature of the field within the item that it is about; "" where it is `feature`.
        other_formats: another format may take it: those that do are to be found.
        alternative: the end of the remedy: what to choose that takes it. No word of it is a field.
    """

    feature: str
    path: str
    message: str
    remedy: str = ""
    origin: diagnosticpb.Origin = attribute(default_factory=diagnosticpb.Origin)
    _: KW_ONLY
    code: str = Reason.UNSUPPORTED_FEATURE
    severity: Severity = Severity.ERROR
    field: str = ""
    part: str = ""
    other_formats: bool = False
    alternative: str = ""

    def __post_init__(self) -> None:
        """Insist on the remedy of an error."""
        if self.is_error and not self.remedy:
            raise AssertionError(f"{self.feature} is refused without a remedy")

    @property
    def is_error(self) -> bool:
        """Whether the machine is refused for it."""
        return self.severity is Severity.ERROR

    @property
    def reason(self) -> str:
        """What is wrong, beginning with the field within the item."""
        return f"{self.field} {self.message}".lstrip()

    @property
    def advice(self) -> str:
        """What to do: the remedy, and what to choose else."""
        return self.remedy + self.alternative

    @property
    def sentence(self) -> str:
        """What is wrong, and what to do."""
        return with_remedy(self.reason, self.advice)

    @property
    def of_machine(self) -> bool:
        """Whether it concerns the machine as a whole, whatever its spec says."""
        if self.origin.path:
            return False
        return not self.path or self.feature in OF_MACHINE or self.path.startswith(_FACTS)


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems, those of the whole machine first, and each once."""
    unique: dict[tuple[str, str, str, str], Problem] = {}
    for problem in problems:
        unique.setdefault((problem.feature, problem.path, problem.origin.path, problem.reason), problem)
    return sorted(unique.values(), key=lambda problem: not problem.of_machine)
