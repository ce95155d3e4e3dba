"""What the address of a page says: each part by its grammar, and nothing that the page does not know."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self
from urllib.parse import urlencode

from multidict import MultiMapping

from slipway.contract.errors import BundleInvalid, Violation
from slipway.reports.presentation import STATES, Row
from slipway.reports.service import check_request
from slipway.v1alpha1 import report_service_pb2 as reportspb

DEFAULT_NAMESPACE = "default"

_LONGEST = 253
_LARGEST_NUMBER = 10**9


@dataclass(frozen=True, slots=True)
class Filter:
    """Which machines the fleet shows.

    Attributes:
        namespace: of the Machines.
        cluster: name of their cluster; empty for all.
        state: how far they came; empty for all.
        reason: why they failed; empty for all.
        machine: a part of their names; empty for all.
        page: number of the page, from 1 on.
    """

    namespace: str = DEFAULT_NAMESPACE
    cluster: str = ""
    state: str = ""
    reason: str = ""
    machine: str = ""
    page: int = 1

    @classmethod
    def of(cls, query: MultiMapping[str]) -> Self:
        """Read a query string; an empty value is as one that is not there.

        Raises:
            BundleInvalid: it has a parameter that is not known, is there twice, or breaks its grammar.
        """
        texts = parameters(query, {"namespace", "cluster", "state", "reason", "machine", "page"})
        page = number_of(texts, "page") or 1
        texts.pop("page", "")
        chosen = cls(**texts, page=page)
        check_request(reportspb.WatchReportsRequest(namespace=chosen.namespace, cluster=chosen.cluster))
        if chosen.state and chosen.state not in STATES:
            raise invalid("state", f"must be one of {', '.join(sorted(STATES))}")
        return chosen

    def takes(self, row: Row) -> bool:
        """Whether a machine is shown."""
        return self.machine in row.machine and self.state in ("", row.state) and self.reason in ("", row.reason)

    def link(self, **changes: str | int) -> str:
        """Give the query string with changes; the first page, unless the change is the page."""
        changed = replace(self, **{"page": 1, **changes})  # type: ignore[arg-type]  # the fields' own types
        values = {name: getattr(changed, name) for name in ("namespace", "cluster", "state", "reason", "machine")}
        if changed.page > 1:
            values["page"] = changed.page
        return "?" + urlencode({name: value for name, value in values.items() if value})


def parameters(query: MultiMapping[str], names: set[str]) -> dict[str, str]:
    """Give the parameters that are not empty.

    Raises:
        BundleInvalid: one is not known, is there twice, or is too long.
    """
    for name in query:
        if name not in names:
            raise BundleInvalid("the address has a parameter that this page does not know")
        if len(query.getall(name)) > 1:
            raise invalid(name, "must be there once")
        if len(query[name]) > _LONGEST:
            raise invalid(name, f"must have at most {_LONGEST} characters")
    return {name: value for name, value in query.items() if value}


def number_of(texts: Mapping[str, str], name: str) -> int:
    """Give a parameter that is a number from 1 on; 0 where it is not there.

    Raises:
        BundleInvalid: it is no such number.
    """
    text = texts.get(name, "")
    if not text:
        return 0
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text) <= _LARGEST_NUMBER:
        raise invalid(name, f"must be a number from 1 to {_LARGEST_NUMBER}")
    return int(text)


def invalid(name: str, message: str) -> BundleInvalid:
    """Give the error for a part of an address."""
    return BundleInvalid("the address is not valid", violations=[Violation(name, message)])
