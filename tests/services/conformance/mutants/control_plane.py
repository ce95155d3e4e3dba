"""Mutants that turn an intent into another node, or another control plane, than it says."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

from slipway.provisioners.talos.provisioner import TalosProvisioner
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from tests.services.conformance.bent import Bent, Request
from tests.services.conformance.mutants.mutant import Mutant


def mutants() -> Iterator[Mutant]:
    """Give them."""
    yield Mutant(
        "one label in ten is left out", ("RND-018.many-items",),
        _talos(_fewer_labels),
    )  # fmt: skip
    yield Mutant(
        "no names of the API server", ("RND-019.extended-items",),
        _plane(lambda plane: plane.ClearField("api_server_sans")),
    )  # fmt: skip
    yield Mutant(
        "no audit policy", ("RND-019.extended-items",), _plane(lambda plane: plane.ClearField("audit")),
    )  # fmt: skip
    yield Mutant(
        "the scheduler's arguments for the controller manager", ("RND-019.extended-items",),
        _plane(lambda plane: plane.controller_manager.arguments.MergeFrom(plane.scheduler.arguments)
               or plane.scheduler.ClearField("arguments")),
    )  # fmt: skip
    yield Mutant(
        "a control plane with keys of another cluster", ("RND-019.extended-items",),
        _talos(_other_keys),
    )  # fmt: skip
    yield Mutant(
        "a control plane that is a worker", ("RND-019.extended-items",),
        _talos(_as_worker),
    )  # fmt: skip
    yield Mutant(
        "no labels on AWS, of a format without files", ("RND-018.wherever-it-is",),
        Bent(provisioner=_WithoutFiles, before=_no_labels_on_aws),
    )  # fmt: skip


async def _fewer_labels(request: Request, _context: Any) -> None:
    node = request.bundle.intent.kubernetes.node
    kept = [label for number, label in enumerate(node.labels, start=1) if number % 10]
    if len(kept) < len(node.labels):
        node.ClearField("labels")
        node.labels.extend(kept)


class NewestTalos(TalosProvisioner):
    """One format of five is enough to see what is wrong."""

    def formats(self) -> Sequence[provisionerpb.FormatInfo]:
        return super().formats()[:1]


class _WithoutFiles(NewestTalos):
    """Whatever takes an intent may take nothing else."""

    def formats(self) -> Sequence[provisionerpb.FormatInfo]:
        (newest,) = super().formats()
        made = provisionerpb.FormatInfo()
        made.CopyFrom(newest)
        del made.features[:]
        made.features.extend(support for support in newest.features if not support.id.startswith("os.files"))
        return [made]


async def _no_labels_on_aws(request: Request, _context: Any) -> None:
    if request.target.infrastructure == "aws":
        request.bundle.intent.kubernetes.node.ClearField("labels")


def _talos(before: Callable[[Request, Any], Awaitable[None]]) -> Bent:
    return Bent(provisioner=NewestTalos, before=before)


def _plane(change: Callable[[kubernetespb.ControlPlane], object]) -> Bent:
    """Change what is said of the control plane."""

    async def before(request: Request, _context: Any) -> None:
        if request.bundle.intent.kubernetes.HasField("control_plane"):
            change(request.bundle.intent.kubernetes.control_plane)

    return _talos(before)


async def _other_keys(request: Request, _context: Any) -> None:
    """Give etcd the key of the front proxy."""
    credentials = request.bundle.intent.credentials
    if credentials.HasField("etcd_ca"):
        credentials.etcd_ca.private_key.CopyFrom(credentials.front_proxy_ca.private_key)


async def _as_worker(request: Request, _context: Any) -> None:
    if request.bundle.intent.role in (clusterpb.ROLE_CONTROL_PLANE, clusterpb.ROLE_INIT):
        request.bundle.intent.role = clusterpb.ROLE_WORKER
