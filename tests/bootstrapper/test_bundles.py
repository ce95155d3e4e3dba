"""Tests of the bundles that people are shown: no text of a machine is in them, however it was written."""

from typing import Any

import pytest

from slipway.bootstrapper.bundles import give_bundle
from slipway.bootstrapper.credentials.placeholder_store import PlaceholderStore
from slipway.embedded.bootstrapper import embedded_bootstrapper
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from tests.bootstrapper.asking import asked, question

CANARIES = ("cnry0a1b2c", "cnry3d4e5f")

TAKEN = "registries: [{host: a.example, endpoints: [{url: 'https://m.example'}]}]"
IMAGE = "sandboxImage: a.example/p:1"
"""What Talos takes of a containerd, and what it does not."""

TEXTS = [
    ("written as one", contentpb.MachineText(value="".join(CANARIES))),
    ("joined of literal parts", contentpb.MachineText(segments=[{"text": canary} for canary in CANARIES])),
    ("with a fact between", contentpb.MachineText(segments=[{"text": CANARIES[0]}, {"fact": {"kind": 3}}])),
]


def request_for(place: str, text: contentpb.MachineText, *, lowered: bool) -> bootstrappb.GetBundleRequest:
    """Give a request for a machine that has a text at a place of its spec."""
    subject = bootstrappb.Subject()
    subject.cluster.CopyFrom(clusterpb.Cluster(name="c", kubernetes_version="v1.34.2", endpoint={"host": "h"}))
    subject.machine.CopyFrom(clusterpb.Machine(name="m", role=clusterpb.ROLE_INIT))
    subject.machine.target.infrastructure = "aws"
    subject.spec.provisioner.name = "cloud-init"
    holder: Any = subject.spec
    *above, name = place.split(".")
    for one in above:
        holder = getattr(holder, one)
    getattr(holder, name).CopyFrom(text)
    return bootstrappb.GetBundleRequest(subject=subject, lowered=lowered)


async def shown(request: bootstrappb.GetBundleRequest) -> bundlepb.BootstrapBundle:
    """Give the bundle that somebody without a right to secrets gets."""
    return (await give_bundle(embedded_bootstrapper(store=PlaceholderStore()), request, identity="")).bundle


@pytest.mark.parametrize("place", ["os.hostname.name", "kubernetes.node.name", "kubernetes.node.provider_id"])
@pytest.mark.parametrize(("reason", "text"), TEXTS, ids=[one for one, _ in TEXTS])
@pytest.mark.parametrize("lowered", [False, True])
async def test_no_text_of_a_machine_is_shown(
    place: str, reason: str, text: contentpb.MachineText, *, lowered: bool
) -> None:
    """A template may have put anything into a literal, and that is no less a secret when it was joined to one value."""
    bundle = await shown(request_for(place, text, lowered=lowered))
    told = str(bundle) + repr(bundle.SerializeToString())
    assert [canary for canary in CANARIES if canary in told] == [], reason
    assert "bytes>" in told


@pytest.mark.parametrize(
    ("optional", "base", "upper", "places"),
    [
        ("os.containerd", IMAGE, TAKEN, ["spec.os.containerd"]),
        ("os.containerd", TAKEN, IMAGE, ["spec.init.os.containerd"]),
        ("os.containerd", IMAGE, IMAGE, ["spec.init.os.containerd"]),
        (
            "os.containerd.sandbox_image, os.containerd.cgroup_driver",
            IMAGE,
            "cgroupDriver: Systemd",
            ["spec.init.os.containerd", "spec.os.containerd"],
        ),
    ],
    ids=["below", "above", "the later counts", "each its own"],
)
async def test_what_was_left_out_is_told_where_it_was_written(
    optional: str, base: str, upper: str, places: list[str]
) -> None:
    """Of an item that is merged: who asks for the bundle is told the same as who asks for the user data."""
    parts = f"os: {{containerd: {{{base}}}}}, init: {{os: {{containerd: {{{upper}}}}}}}"
    one = question(f"{{{parts}, optionalFeatures: [{optional}]}}", role="Init")
    request = asked(one, "talos")
    bootstrapper = embedded_bootstrapper(store=PlaceholderStore())
    made = await bootstrapper.user_data(request)
    given = await give_bundle(
        bootstrapper, bootstrappb.GetBundleRequest(subject=request.subject, lowered=True), identity=""
    )
    told, shown = (
        [diagnostic for diagnostic in each.diagnostics if diagnostic.code == "OPTIONAL_FEATURE_OMITTED"]
        for each in (made, given)
    )
    assert shown == told
    assert [one.origin.path for one in shown] == places
