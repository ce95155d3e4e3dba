"""The Talos provisioner as the SDK serves it: a bundle with an intent becomes a machine configuration."""

import re
from collections.abc import Sequence
from typing import Any, Literal

from slipway.contract.errors import UnsupportedTarget, Violation
from slipway.contract.yaml_limits import SHORT, limits_together
from slipway.provisioners.talos import material as secret
from slipway.provisioners.talos.capabilities import PATCH, formats
from slipway.provisioners.talos.cluster import cluster, image_tag
from slipway.provisioners.talos.control_plane import ControlPlane
from slipway.provisioners.talos.documents import Config, Features, Machine
from slipway.provisioners.talos.host import host
from slipway.provisioners.talos.kubelet import kubelet, labels, static_pods
from slipway.provisioners.talos.material import Material
from slipway.provisioners.talos.naming import names
from slipway.provisioners.talos.patch import apply_patch
from slipway.provisioners.talos.versions import BY_FORMAT, TalosVersion
from slipway.provisioners.talos.yaml_text import WRITTEN, emit, read_kubernetes, read_patch
from slipway.sdk import RenderContext, UserData
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

_CONTROL_PLANES = (clusterpb.ROLE_INIT, clusterpb.ROLE_CONTROL_PLANE)
_UNUSED_BY_WORKERS: tuple[Literal["control_plane", "etcd"], ...] = ("control_plane", "etcd")
"""What a worker's spec may hold, as it may share it with its control plane, without effect on the worker."""


class TalosProvisioner:
    """Machine configuration for Talos 1.9 to 1.13."""

    name = "talos"
    version = "0.1.0"
    documentation_url = ""

    def formats(self) -> Sequence[provisionerpb.FormatInfo]:
        """Give one format for each Talos version, the newest first."""
        return formats()

    def render(self, bundle: bundlepb.BootstrapBundle, target: clusterpb.Target, ctx: RenderContext) -> UserData:
        """Give the machine configuration, and for the first machine the operator's talosconfig beside it.

        Raises:
            SlipwayError: the bundle cannot be honoured, or lacks a secret.
        """
        version = BY_FORMAT[ctx.format.format]
        _check_target(target, version)
        material = Material.of(bundle)
        documents = _patched(_documents(bundle, target, version, material, ctx), bundle, ctx)
        _check_install(documents, target, ctx)
        content = emit(documents)
        # What is larger is refused anyway.
        if len(content) <= WRITTEN.max_characters and len(read_kubernetes(content)) != len(documents):
            raise AssertionError("the configuration does not read back as what was written")
        init = bundle.intent.role == clusterpb.ROLE_INIT
        _remark(bundle.intent, documents, ctx)
        return UserData(content, (_talosconfig(bundle.intent, material),) if init else ())


def _documents(
    bundle: bundlepb.BootstrapBundle,
    target: clusterpb.Target,
    version: TalosVersion,
    material: Material,
    ctx: RenderContext,
) -> list[Any]:
    intent = bundle.intent
    controls = intent.role in _CONTROL_PLANES
    tag = image_tag(intent, version, ctx)
    called = names(bundle, target, ctx)
    plane = ControlPlane(intent.kubernetes, tag, version, ctx) if controls else None
    section = cluster(intent, material, plane)
    system = host(bundle.os, called, version, ctx)
    if plane is not None and plane.files:
        system.machine["files"] = [*(system.machine["files"] or []), *plane.files]
    node = intent.kubernetes.node
    always = None if version.network_documents else True
    machine = Machine(
        type="controlplane" if controls else "worker",
        token=material.declared(secret.MACHINE_TOKEN, "token"),
        ca=material.declared_pair(secret.MACHINE_CA, private=controls),
        kubelet=kubelet(node, tag=tag, control_plane=controls, names=called, version=version, ctx=ctx),
        pods=static_pods(intent.kubernetes, ctx) or None,
        features=Features(rbac=always, stable_hostname=always, apid_check_ext_key_usage=always),
        node_labels=labels(node, control_plane=controls, ctx=ctx) or None,
        **system.machine,
    )
    return [
        Config(machine=machine, cluster=section).plain(),
        *(document.plain() for document in system.documents),
    ]


def _patched(documents: list[Any], bundle: bundlepb.BootstrapBundle, ctx: RenderContext) -> list[Any]:
    limits = limits_together(SHORT)
    for index, extension in enumerate(bundle.extensions):
        path = f"extensions[{index}].content"
        try:
            documents = apply_patch(documents, read_patch(ctx.content(extension.content, path), limits))
        except ValueError as error:
            remedy = "correct the patch: YAML of a strategic merge, as talosctl takes it"
            ctx.refuse(path, f"ext.{PATCH}", str(error), remedy=remedy)
    return documents


def _check_target(target: clusterpb.Target, version: TalosVersion) -> None:
    """Refuse another distribution, and a Talos that is older than the format."""
    if target.distribution not in ("", "talos"):
        raise UnsupportedTarget(
            "only Talos reads this format",
            violations=[
                Violation(
                    "target.distribution",
                    "must be talos for this format",
                    remedy="set it to talos, or choose the provisioner of that distribution",
                )
            ],
            metadata={"supported": "talos"},
        )
    runs = re.match(r"v?1\.(\d+)", target.os_version)
    if runs and int(runs[1]) < version.minor:
        raise UnsupportedTarget(
            "an older Talos does not know all fields of this format",
            violations=[
                Violation(
                    "target.os_version",
                    "is older than the format",
                    remedy="choose that version's own format, or a newer Talos",
                )
            ],
            metadata={"supported": version.format},
        )


def _check_install(documents: list[Any], target: clusterpb.Target, ctx: RenderContext) -> None:
    """Refuse metal without a disk: Talos installs itself there, and nobody may guess what it overwrites."""
    if target.infrastructure != "metal":
        return
    machine = documents[0].get("machine") or {}
    install = machine.get("install") or {}
    if not install.get("disk") and not install.get("diskSelector"):
        raise UnsupportedTarget(
            "on metal Talos installs itself and needs the disk that it may overwrite",
            violations=[
                Violation(
                    "extensions",
                    f"must hold a {PATCH} that sets machine.install.disk or machine.install.diskSelector",
                    remedy=f"add an extension {PATCH} with machine.install.disk",
                )
            ],
            metadata={"supported": f"{ctx.format.format} on metal with machine.install.disk"},
        )


def _remark(intent: planpb.Intent, documents: list[Any], ctx: RenderContext) -> None:
    if intent.role == clusterpb.ROLE_INIT:
        ctx.remark(
            "POST_BOOT_ACTION",
            "The cluster starts only after one call, once this machine is up: "
            "talosctl --talosconfig talosconfig --endpoints ADDRESS --nodes ADDRESS bootstrap",
        )
    if intent.role in _CONTROL_PLANES and documents[0]["cluster"]["network"].get("cni") == {"name": "none"}:
        ctx.remark(
            "NO_CNI",
            "No network plugin is installed, as on other systems. "
            f"A {PATCH} that sets cluster.network.cni has Talos install one.",
            severity=diagnosticpb.SEVERITY_INFO,
        )
    if intent.role == clusterpb.ROLE_WORKER:
        for name in _UNUSED_BY_WORKERS:
            if intent.kubernetes.HasField(name):
                ctx.remark(
                    "NOT_USED_BY_ROLE",
                    "has no effect on a worker: control-plane machines carry it",
                    path=f"intent.kubernetes.{name}",
                    severity=diagnosticpb.SEVERITY_INFO,
                )
    if intent.kubernetes.images.HasField("repository"):
        ctx.remark(
            "KUBELET_IMAGE_ELSEWHERE",
            "Talos takes the kubelet from ghcr.io/siderolabs/kubelet and not from this repository; "
            "os.containerd can have it pulled from a mirror.",
            path="intent.kubernetes.images.repository",
        )


def _talosconfig(intent: planpb.Intent, material: Material) -> provisionerpb.Attachment:
    pair = material.declared_pair(secret.ADMIN, private=True)
    authority = material.declared_pair(secret.MACHINE_CA, private=False)
    context: dict[str, Any] = {"endpoints": [], "ca": authority.crt, "crt": pair.crt, "key": pair.key}
    content = emit([{"context": intent.cluster.name, "contexts": {intent.cluster.name: context}}])
    return provisionerpb.Attachment(
        name="talosconfig", media_type="application/yaml", content=content, operator_only=True
    )
