"""What the operator of a bootstrapper allows."""

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from slipway.bootstrapper.assembly.accounts import IMAGES_OWN_USER
from slipway.bootstrapper.assembly.subject import CheckedSubject, field_name, written_places
from slipway.bootstrapper.field_index import item_index
from slipway.bootstrapper.provisioning.versions import VersionRules
from slipway.contract.errors import FeatureDenied, ProvisionerNotAllowed, Violation
from slipway.contract.features import MAX_PATHS, feature_uses
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

OWN_DOMAIN = "slipway.dev"
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")
_OF_SPECS_ONLY = frozenset({"compliance", "reporting"})
"""Features of a spec that become items of others in the bundle."""


@dataclass(frozen=True, slots=True)
class Policy:
    """An operator's settings.

    Attributes:
        allowed_provisioners: names that may get a bundle; None for all (only where everything runs on one machine).
        denied_features: features that no spec may use: ids, or prefixes that end in "*", e.g. "os.commands", "ext.*".
        allowed_features: the only features that a spec may use, written alike; None for all.
        secrets_for: TLS identities that may ask for bundles with secrets.
        versions: which versions of provisioners may get a bundle.
    """

    allowed_provisioners: frozenset[str] | None = None
    denied_features: frozenset[str] = frozenset()
    allowed_features: frozenset[str] | None = None
    secrets_for: frozenset[str] = frozenset()
    versions: VersionRules = field(default_factory=VersionRules)

    @property
    def denies_reporting(self) -> bool:
        """Whether no machine may report: neither by its spec nor because the operator gives it an address."""
        return any(_matches(feature, self.denied_features) for feature in ("reporting", "os.commands"))

    def check_features(self, bundle: bundlepb.BootstrapBundle) -> None:
        """Refuse a neutral bundle that uses a denied feature.

        Raises:
            FeatureDenied: naming features, and the fields as the user wrote them.
        """
        if not self.denied_features:
            return
        used = [*((use.id, use.paths) for use in feature_uses(bundle)), *_implied(bundle.os)]
        uses = [use for use in used if _matches(use[0], self.denied_features)]
        if not uses:
            return
        index = item_index(bundle)
        _refuse(uses, verb="denies", where=lambda path: [field_name(index, f"spec.{path}")])

    def check_spec(self, subject: CheckedSubject) -> None:
        """Refuse a spec, or a plan of the caller's own, that uses a feature which is not allowed.

        The spec is judged and not the bundle made of it: what Slipway adds by itself, such as the role, needs no
        permission. A list that does not name a feature refuses it, also one that a later version adds.

        Raises:
            FeatureDenied: naming features and fields.
        """
        if self.denied_features:
            # Of these nothing is left in the bundle by which `check_features` could know them.
            of_spec = [use for use in feature_uses(subject.spec) if use.id in _OF_SPECS_ONLY]
            denied = [(use.id, use.paths) for use in of_spec if _matches(use.id, self.denied_features)]
            _refuse(denied, verb="denies", where=lambda path: written_places(subject, path))
        allowed = self.allowed_features
        if allowed is None:
            return
        parts = (subject.spec, bundlepb.BootstrapBundle(plan=subject.plan))
        used = [*((use.id, use.paths) for part in parts for use in feature_uses(part)), *_implied(subject.spec.os)]
        uses = [use for use in used if not _matches(use[0], allowed)]
        _refuse(uses, verb="does not allow", where=lambda path: written_places(subject, path))


def _implied(os: ospb.OperatingSystem) -> list[tuple[str, list[str]]]:
    """Give what a spec uses without the field of it: who is the image's own user may use sudo."""
    own = [f"os.users[{index}].name" for index, user in enumerate(os.users) if user.name == IMAGES_OWN_USER]
    return [("os.users.sudo", own[:MAX_PATHS])] if own else []


def _matches(feature: str, patterns: Collection[str]) -> bool:
    return any(
        feature == pattern or (pattern.endswith("*") and feature.startswith(pattern[:-1])) for pattern in patterns
    )


def _refuse(uses: Collection[tuple[str, Iterable[str]]], *, verb: str, where: Callable[[str], Iterable[str]]) -> None:
    if not uses:
        return
    features = sorted({feature for feature, _ in uses})
    raise FeatureDenied(
        f"the operator {verb} {', '.join(features)}",
        violations=[
            Violation(
                place,
                f"uses {feature}, which the operator {verb}",
                feature,
                "leave it out, or ask the operator to allow it",
            )
            for feature, paths in uses
            for path in paths
            for place in list(where(path))[:MAX_PATHS]
        ],
        metadata={"features": ",".join(features)},
    )


def check_declarations(name: str, info: provisionerpb.FormatInfo) -> None:
    """Refuse a provisioner that declares secrets outside its own domain: it could ask for those of others.

    The same holds for the authority that signs a client's certificate: the cluster's own would sign an administrator.
    A provisioner's domain is its own name when that has a dot, else NAME.slipway.dev. A name with a dot is therefore
    never below slipway.dev: it would have the domain of the cluster's own secrets, or of another provisioner.
    Behind the domain stands one DNS label: a store that writes the slash as a dot could confuse two names otherwise.

    Raises:
        ProvisionerNotAllowed: naming the provisioner.
    """
    if name == OWN_DOMAIN or name.endswith(f".{OWN_DOMAIN}"):
        raise ProvisionerNotAllowed(
            f"provisioner {name} is called by a name of Slipway's own domain", metadata={"provisioner": name}
        )
    domain = name if "." in name else f"{name}.{OWN_DOMAIN}"
    for declaration in info.secrets:
        if not all(_within(domain, text) for text in (declaration.name, declaration.issuer or declaration.name)):
            raise ProvisionerNotAllowed(
                f"provisioner {name} declares a secret that is not one DNS label under its own domain {domain}",
                metadata={"provisioner": name},
            )


def _within(domain: str, name: str) -> bool:
    name_domain, separator, rest = name.partition("/")
    return name_domain == domain and bool(separator) and _LABEL.fullmatch(rest) is not None
