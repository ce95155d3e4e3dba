"""The list of checks: small functions, each with the clause that it shows and what it needs to run."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from slipway.conformance.clauses import clauses
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

if TYPE_CHECKING:
    from slipway.conformance.session import Session

Run = Callable[["Session"], Awaitable[None]]
RunFormat = Callable[["Session", provisionerpb.FormatInfo], Awaitable[None]]


class Need(StrEnum):
    """What a check needs besides an endpoint."""

    TLS = "a connection with TLS"
    PROCESS = "--start-cmd"
    BOOT = "--boot-cmd"
    AUTHORITY = "--start-cmd without --tls-cert-dir and --insecure, so that the suite makes the certificates"


@dataclass(frozen=True, slots=True)
class Check:
    """One check.

    Attributes:
        clause: id of the clause that it shows.
        name: its name within the clause.
        needs: what it needs besides an endpoint.
        run: it, for the provisioner as a whole.
        run_format: it, for each format.
        slow: it waits for something, so others may run meanwhile.
        features: what a format must declare to be checked.
        form: the form of the Kubernetes part that a format must take to be checked; unspecified for any.
    """

    clause: str
    name: str
    needs: frozenset[Need]
    run: Run | None = None
    run_format: RunFormat | None = None
    slow: bool = False
    features: frozenset[str] = frozenset()
    form: provisionerpb.KubernetesInput.ValueType = provisionerpb.KUBERNETES_INPUT_UNSPECIFIED

    @property
    def id(self) -> str:
        """Id of the check, e.g. "RND-004.odd-tags"."""
        return f"{self.clause}.{self.name}"

    def unfit(self, info: provisionerpb.FormatInfo) -> str:
        """Give why it cannot be made on a format; nothing when it can."""
        if self.form not in (provisionerpb.KUBERNETES_INPUT_UNSPECIFIED, info.kubernetes_input):
            plan = self.form == provisionerpb.KUBERNETES_INPUT_PLAN
            return "an intent has no entry point" if plan else "a plan has no intent"
        missing = sorted(self.features - {support.id for support in info.features})
        return f"the format does not declare {', '.join(missing)}" if missing else ""

    @property
    def group(self) -> str:
        """Id of its group, e.g. "RND"."""
        return self.clause.partition("-")[0]

    @property
    def chapter(self) -> str:
        """Id of the chapter that its clause is in."""
        return clauses()[self.clause].chapter


class Checks:
    """The checks of one group, gathered by decorators."""

    def __init__(self) -> None:
        """Start with none."""
        self._found: list[Check] = []

    def __iter__(self) -> Iterator[Check]:
        return iter(self._found)

    def check(self, clause: str, *needs: Need, slow: bool = False) -> Callable[[Run], Run]:
        """Add a check of the provisioner as a whole; its name is the function's."""

        def add(run: Run) -> Run:
            name = _name(run)
            self._found.append(Check(clause, name, frozenset(needs), run=run, slow=slow))
            return run

        return add

    def check_format(
        self,
        clause: str,
        *needs: Need,
        features: tuple[str, ...] = (),
        form: provisionerpb.KubernetesInput.ValueType = provisionerpb.KUBERNETES_INPUT_UNSPECIFIED,
    ) -> Callable[[RunFormat], RunFormat]:
        """Add a check of every format that declares these features and takes the Kubernetes part in this form."""

        def add(run: RunFormat) -> RunFormat:
            self._found.append(
                Check(clause, _name(run), frozenset(needs), run_format=run, features=frozenset(features), form=form)
            )
            return run

        return add


def _name(run: Callable[..., object]) -> str:
    return run.__name__.replace("_", "-")
