"""Applies the profiles of a spec to it: what they add stands in ordinary fields, with the controls as its origin."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from slipway.bootstrapper.compliance.additions import Additions
from slipway.bootstrapper.compliance.arguments import API_SERVER, apply_argument, apply_plugin, find_argument
from slipway.bootstrapper.compliance.by_choice import chosen
from slipway.bootstrapper.compliance.documents import audit_policy, encryption_configuration, rate_limit
from slipway.bootstrapper.compliance.kubelet import KubeletSettings
from slipway.bootstrapper.compliance.names import origin_of_controls
from slipway.bootstrapper.compliance.profile import (
    Argument,
    AuditPolicy,
    Control,
    Encryption,
    Kubelet,
    Plugin,
    Requirement,
    Sysctl,
)
from slipway.bootstrapper.compliance.rule import Rule
from slipway.bootstrapper.compliance.selection import Selection, select
from slipway.bootstrapper.credentials.cluster_secrets import ENCRYPTION_KEY
from slipway.bootstrapper.kubernetes_documents.document_places import literal_text
from slipway.contract.errors import Violation
from slipway.contract.items import items
from slipway.contract.source_position import SourceError
from slipway.contract.yaml_limits import SHORT
from slipway.contract.yaml_source import load_documents
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import spec_pb2 as specpb

TALOS = "talos"
"""The distribution that does some of what profiles ask for by itself."""

_ADMISSION = "admission-control-config-file"
_RATE_LIMIT = "EventRateLimit"
STRONG = frozenset({"aescbc", "aesgcm", "kms", "secretbox"})
"""Providers of the encryption at rest that are strong."""

_CONTROL_PLANE = "kubernetes.control_plane"


@dataclass(frozen=True, slots=True)
class Applied:
    """What came of applying profiles.

    Attributes:
        plain: the spec as it was before.
        selection: the controls.
        places: by field path of the applied spec, the controls that have set it.
        shared: by field path, the controls that have added to what the user wrote there.
        violations: what of the spec is against a control, by field path.
    """

    plain: specpb.MachineBootstrapSpec = field(repr=False)
    selection: Selection
    places: Mapping[str, tuple[str, ...]]
    shared: Mapping[str, tuple[str, ...]]
    violations: tuple[Violation, ...] = ()


def apply_profiles(
    spec: specpb.MachineBootstrapSpec,
    role: clusterpb.Role.ValueType,
    *,
    view: str = "",
    kubelet_arguments: bool = False,
) -> Applied | None:
    """Apply the profiles of a spec whose overrides are applied, in place; None where it has none.

    Args:
        spec: the spec of a machine; changed.
        role: of the machine.
        view: TALOS leaves out what that system does by itself.
        kubelet_arguments: settings of the kubelet become arguments, for an engine that takes no configuration of it.
    """
    if not spec.compliance.profiles:
        return None
    plain = specpb.MachineBootstrapSpec()
    plain.CopyFrom(spec)
    selection = chosen(select(spec.compliance, role), spec)
    additions = Additions(spec, view)
    demands = [(name, control, demand) for name, control in selection.met.items() for demand in control.requires]
    # What decides where the rest is put comes first; what an operating system may do by itself comes last, so that
    # the field paths of all others are the same for every system.
    demands.sort(key=lambda entry: (_order(entry[2]), _is_own(entry[2])))
    settings = KubeletSettings(additions, by_arguments=kubelet_arguments)
    for name, control, demand in demands:
        if view and _is_own(demand):
            continue
        if isinstance(demand, Kubelet):
            settings.apply(name, control, demand)
        else:
            _apply(additions, name, control, demand)
    settings.write()
    _name_origins(additions, plain)
    # Entries of the system's lists say by their own origin where they come from; their paths change in a bundle.
    places, shared = (
        {path: tuple(names) for path, names in by_path.items() if not path.startswith("os.")}
        for by_path in (additions.places, additions.shared)
    )
    return Applied(plain, selection, places, shared, tuple(additions.violations))


def _order(demand: Requirement) -> int:
    return 0 if isinstance(demand, (AuditPolicy, Encryption)) else 1


def _is_own(demand: Requirement) -> bool:
    return isinstance(demand, Encryption) or getattr(demand, "talos", None) == "own"


def _apply(additions: Additions, name: str, control: Control, demand: Requirement) -> None:
    match demand:
        case Argument():
            apply_argument(additions, name, control, demand)
        case Plugin():
            apply_plugin(additions, name, control, demand.plugin)
            if demand.plugin == _RATE_LIMIT:
                _rate_limit(additions, name, control)
        case AuditPolicy():
            _audit_policy(additions, name)
        case Encryption():
            _encryption(additions, name, control)
        case Sysctl():
            _sysctl(additions, name, control, demand)
        case _:
            pass


def _audit_policy(additions: Additions, name: str) -> None:
    control_plane = additions.spec.kubernetes.control_plane
    path = f"{_CONTROL_PLANE}.audit"
    if control_plane.HasField("audit"):
        if path in additions.places:
            additions.add(path, name)
    elif find_argument(additions.spec, API_SERVER, "audit-policy-file") is None:
        control_plane.audit.policy.CopyFrom(audit_policy())
        additions.add(path, name)


def _encryption(additions: Additions, name: str, control: Control) -> None:
    control_plane = additions.spec.kubernetes.control_plane
    path = f"{_CONTROL_PLANE}.encryption"
    if path in additions.places:
        additions.add(path, name)
    elif control_plane.HasField("encryption"):
        provider = _first_provider(control_plane.encryption.configuration)
        if provider and provider not in STRONG:
            additions.refuse(name, control, path)
    elif find_argument(additions.spec, API_SERVER, "encryption-provider-config") is None:
        control_plane.encryption.configuration.CopyFrom(encryption_configuration())
        additions.add(path, name)


def _first_provider(content: contentpb.Content) -> str:
    """Give the first provider of an EncryptionConfiguration; "" where it is not known here."""
    text = literal_text(content)
    if text is None:
        return ""
    try:
        (document,) = load_documents(text, file="", limits=SHORT)
        tree: Any = document.value
        return str(next(iter(tree["resources"][0]["providers"][0])))
    except (SourceError, ValueError, LookupError, TypeError, StopIteration):
        return ""


def _rate_limit(additions: Additions, name: str, control: Control) -> None:
    """Give the plugin its configuration, without which the API server does not start."""
    spec = additions.spec
    written = find_argument(spec, API_SERVER, _ADMISSION)
    if written is None:
        file = spec.kubernetes.control_plane.files.add(
            name="compliance-admission", component="api-server", argument=_ADMISSION
        )
        file.content.CopyFrom(rate_limit())
        additions.add(f"{_CONTROL_PLANE}.files[{len(spec.kubernetes.control_plane.files) - 1}]", name)
        return
    path = written[0]
    if path in additions.places:
        additions.add(path, name)
    elif not path.startswith(f"{_CONTROL_PLANE}.files[") or not _configures_rate_limit(spec, path):
        additions.refuse(name, control, path)


def _configures_rate_limit(spec: specpb.MachineBootstrapSpec, path: str) -> bool:
    file = spec.kubernetes.control_plane.files[int(path.rpartition("[")[2][:-1])]
    text = literal_text(file.content)
    return text is None or _RATE_LIMIT in text


def _sysctl(additions: Additions, name: str, control: Control, demand: Sysctl) -> None:
    sysctls = additions.spec.os.sysctls
    index = next((index for index, sysctl in enumerate(sysctls) if sysctl.name == demand.sysctl), None)

    def put() -> str:
        sysctls.append(ospb.Sysctl(name=demand.sysctl, value=demand.value))
        return f"os.sysctls[{len(sysctls) - 1}]"

    path = f"os.sysctls[{index}]"
    observed = None if index is None else sysctls[index].value
    additions.settle(name, control, Rule(value=demand.value), path=path, observed=observed, put=put)


def _name_origins(additions: Additions, plain: specpb.MachineBootstrapSpec) -> None:
    """Have each item that is there only since controls ask for it say so."""
    known = {item.path for item in items(plain)}
    for item in items(additions.spec):
        if item.path not in known:
            names = [
                name
                for path, controls in additions.places.items()
                if path == item.path or path.startswith((f"{item.path}.", f"{item.path}["))
                for name in controls
            ]
            item.message.origin.CopyFrom(origin_of_controls(names))


def is_encrypted_by_us(kubernetes: kubernetespb.Kubernetes) -> bool:
    """Return whether the cluster's own key encrypts resources at rest."""
    segments = kubernetes.control_plane.encryption.configuration.segments
    return any(segment.secret_ref.name == ENCRYPTION_KEY for segment in segments)
