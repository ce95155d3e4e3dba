"""What NetworkPolicies let through, by the rules of their documentation."""

import ipaddress
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]
Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Peer:
    """The other side: a pod of the same namespace has labels, everything has an address."""

    address: str
    labels: Labels | None = None


class Policies:
    """The policies of one namespace."""

    def __init__(self, documents: Iterable[Object]) -> None:
        """Take the specs of documents of kind NetworkPolicy."""
        self._specs = [document["spec"] for document in documents]

    def allow(self, direction: str, pod: Labels, peer: Peer, port: int) -> bool:
        """Whether a pod may be called ("ingress") or call ("egress") by TCP."""
        chosen = [spec for spec in self._specs if self._governs(spec, direction, pod)]
        return not chosen or any(
            _is_peer(rule, direction, peer) and port in _ports(rule)
            for spec in chosen
            for rule in spec.get(direction) or ()
        )

    def opened(self, direction: str, pod: Labels) -> set[int]:
        """Give the TCP ports that the rules for a pod name."""
        return {
            port
            for rule in self._rules(direction, pod)
            for port in (port["port"] for port in rule.get("ports") or () if port.get("protocol", "TCP") == "TCP")
        }

    def _rules(self, direction: str, pod: Labels) -> Iterator[Object]:
        for spec in self._specs:
            if self._governs(spec, direction, pod):
                yield from spec.get(direction) or ()

    @staticmethod
    def _governs(spec: Object, direction: str, pod: Labels) -> bool:
        return direction.capitalize() in spec["policyTypes"] and _selects(spec["podSelector"], pod)


def _ports(rule: Object) -> Any:
    ports = rule.get("ports")
    return range(1, 65536) if not ports else [port["port"] for port in ports if port.get("protocol", "TCP") == "TCP"]


def _is_peer(rule: Object, direction: str, peer: Peer) -> bool:
    peers = rule.get("from" if direction == "ingress" else "to")
    return not peers or any(_matches(one, peer) for one in peers)


def _matches(wanted: Object, peer: Peer) -> bool:
    if "ipBlock" in wanted:
        block, address = wanted["ipBlock"], ipaddress.ip_address(peer.address)
        return _inside(address, block["cidr"]) and not any(_inside(address, one) for one in block.get("except") or ())
    if peer.labels is None:
        return False
    if "namespaceSelector" in wanted and wanted["namespaceSelector"] != {}:
        return False  # Of another namespace, where there are no pods of ours.
    return _selects(wanted.get("podSelector") or {}, peer.labels)


def _inside(address: ipaddress.IPv4Address | ipaddress.IPv6Address, network: str) -> bool:
    return address in ipaddress.ip_network(network)


def _selects(selector: Object, labels: Labels) -> bool:
    expressions = selector.get("matchExpressions") or ()
    assert all(expression["operator"] == "In" for expression in expressions)
    return (selector.get("matchLabels") or {}).items() <= labels.items() and all(
        labels.get(expression["key"]) in expression["values"] for expression in expressions
    )
