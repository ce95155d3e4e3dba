"""Versions of provisioners: their order, and which of them the operator allows.

Without a rule the newest version of an allowed name wins by its announcement alone: a program that can register under
that name chooses the code that gets the keys of clusters. A rule leaves that decision to the operator.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self

from slipway.bootstrapper.artifacts.version import Version
from slipway.contract.grammars import grammars
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

RULE = 'must be NAME>=VERSION or NAME==VERSION, such as "acme>=0.1.0" or "acme==0.2.1" (quoted in a shell)'
_PIN, _MINIMUM = "==", ">="


@dataclass(frozen=True, slots=True)
class VersionRule:
    """What the operator says of the versions of one provisioner.

    Attributes:
        version: the only version, or the oldest one.
        is_pin: whether it is the only one.
    """

    version: str
    is_pin: bool

    def refusal(self, version: str) -> str:
        """Return why a version is refused, or ""."""
        if self.is_pin:
            # The whole text is compared: builds of one version are different code.
            return "" if version == self.version else f"the operator allows version {self.version} only"
        parsed, minimum = _parse(version), _parse(self.version)
        if parsed is not None and minimum is not None and parsed >= minimum:
            return ""
        unreadable = ", and this is not a semantic version" if parsed is None else ""
        return f"the operator requires version {self.version} or newer{unreadable}"


@dataclass(frozen=True, slots=True)
class VersionRules:
    """The operator's rules for versions, by the name of the provisioner. A name without a rule may have any version."""

    by_name: Mapping[str, VersionRule] = field(default_factory=dict)

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Self:
        """Read rules such as "acme>=0.1.0" and "other==0.2.1".

        Raises:
            ValueError: one is malformed, or a name has two.
        """
        rules: dict[str, VersionRule] = {}
        for text in texts:
            name, operator, version = _split(text)
            # No provisioner has another name: such a rule would limit nothing, although the operator relies on it.
            if not grammars()["dns-subdomain"].check(name) or _parse(version) is None:
                raise ValueError(RULE)
            if name in rules:
                raise ValueError(f"{name} has more than one rule: give one version, pinned or minimum")
            rules[name] = VersionRule(version, operator == _PIN)
        return cls(rules)

    def refusal(self, info: provisionerpb.GetProvisionerInfoResponse) -> str:
        """Return why the operator does not allow the version of a provisioner, or ""."""
        rule = self.by_name.get(info.name)
        return rule.refusal(info.implementation_version) if rule else ""

    def remedy(self, name: str) -> str:
        """Return what a spec may ask for in place of a refused version."""
        rule = self.by_name[name]
        wanted = f"version {rule.version}" if rule.is_pin else f"version {rule.version} or newer"
        return f"choose {wanted}, or ask the operator to change --provisioner-versions"


def version_order(version: str) -> tuple[bool, Version]:
    """Return a key that orders semantic versions; any other text comes first."""
    parsed = _parse(version)
    return (False, Version((0, 0, 0))) if parsed is None else (True, parsed)


def _split(text: str) -> tuple[str, str, str]:
    for operator in (_PIN, _MINIMUM):
        name, separator, version = text.partition(operator)
        if separator:
            return name.strip(), operator, version.strip()
    return "", "", ""


def _parse(text: str) -> Version | None:
    """Read a version; its build metadata says nothing of its age."""
    try:
        return Version.parse(text.partition("+")[0])
    except ValueError:
        return None
