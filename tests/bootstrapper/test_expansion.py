"""Small requests that stand for large texts: refused by name, in a time and a memory that their size can explain."""

import asyncio
import tracemalloc
from collections.abc import Callable

import pytest

from slipway.bootstrapper.credentials.placeholder_store import PlaceholderStore
from slipway.contract.errors import BundleTooLarge, SlipwayError
from slipway.embedded.bootstrapper import embedded_bootstrapper
from slipway.sdk.limits import check_bundle_size
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1.reasons import Reason
from tests.bootstrapper.test_callers import subject

pytestmark = pytest.mark.long

MIB = 2**20
POD = (
    "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers: [&c {name: a, image: b, env: "
    f"[&e {{name: a, value: b}}, {', '.join(['*e'] * 20)}]}}, {', '.join(['*c'] * 400)}]\n"
)
"""45,000 values in 1,500 characters."""

PATCH = f"machine:\n  files: [&c [{', '.join('1' * 10)}], {', '.join(['*c'] * 1700)}]\n"
LONG = f"machine:\n  files: [&c '{'x' * 100_000}', {', '.join(['*c'] * 1000)}]\n"


def manifests(request: bootstrappb.GetUserDataRequest) -> None:
    """Have as many static pods as files as a spec may have."""
    for number in range(512):
        path = f"/etc/kubernetes/manifests/{number}.yaml"
        request.subject.spec.os.files.add(path=path).content.text = POD


def pods(request: bootstrappb.GetUserDataRequest) -> None:
    """Have as many static pods as a spec may have, imported: what is wrong with them is a warning."""
    request.subject.spec.imported.kind = "KubeadmConfig"
    request.subject.spec.provisioner.name = "talos"
    for number in range(64):
        request.subject.spec.kubernetes.static_pods.add(name=f"p{number}").manifest.text = POD


def patches(request: bootstrappb.GetUserDataRequest, text: str = PATCH) -> None:
    """Have as many patches of Talos' configuration as a spec may have."""
    request.subject.spec.provisioner.name = "talos"
    for _ in range(32):
        patch = request.subject.spec.extensions.add(id="talos.slipway.dev/patch", media_type="application/yaml")
        patch.content.text = text


def long_patch(request: bootstrappb.GetUserDataRequest) -> None:
    """Have a text of 100 kB a thousand times."""
    patches(request, LONG)
    del request.subject.spec.extensions[1:]


def secrets(request: bootstrappb.GetUserDataRequest) -> None:
    """Refer to a large secret in every part of a file."""
    request.credentials.secrets.add(name="a", key="b", kind=secretpb.SECRET_KIND_OPAQUE, value=b"x" * 60_000)
    file = request.subject.spec.os.files.add(path="/opt/a")
    for _ in range(4096):
        file.content.segments.add().secret_ref.CopyFrom(secretpb.SecretReference(name="a", key="b"))


@pytest.mark.parametrize(
    ("ask", "reason", "message"),
    [
        (manifests, Reason.SPEC_INVALID, "more than 100000 values in all such texts together"),
        (pods, Reason.UNSUPPORTED_FEATURE, "more than 20000 values"),
        (patches, Reason.UNSUPPORTED_FEATURE, "more than 20000 values in all such texts together"),
        (long_patch, Reason.UNSUPPORTED_FEATURE, "more than 1048576 characters"),
        (secrets, Reason.BUNDLE_TOO_LARGE, "at all the places that refer to them"),
    ],
)
def test_what_stands_for_more_than_it_has_is_refused(
    ask: Callable[[bootstrappb.GetUserDataRequest], None], reason: Reason, message: str
) -> None:
    """Bootstrapper and provisioner together stay below a memory limit, and end long before a call does."""
    request = bootstrappb.GetUserDataRequest(subject=subject("a"), accept_attachments=True)
    ask(request)
    assert request.ByteSize() < MIB
    bootstrapper = embedded_bootstrapper(store=PlaceholderStore())
    tracemalloc.start()
    try:
        with pytest.raises(SlipwayError) as caught:
            asyncio.run(asyncio.wait_for(bootstrapper.user_data(request), 20))
        assert tracemalloc.get_traced_memory()[1] < 80 * MIB
    finally:
        tracemalloc.stop()
    assert caught.value.reason is reason
    assert message in f"{caught.value} {caught.value.violations}"


def test_a_provisioner_refuses_repeated_secrets_by_itself() -> None:
    """A bundle of any origin: a provisioner need not trust who calls it."""
    bundle = bundlepb.BootstrapBundle()
    bundle.secrets.secrets.add(name="a", key="b", value=b"x" * MIB)
    for number in range(4):
        reference = secretpb.SecretReference(name="a", key="b")
        bundle.os.files.add(path=f"/{number}").content.segments.add().secret_ref.CopyFrom(reference)
    check_bundle_size(bundle)
    bundle.os.files.add(path="/x").content.segments.add().secret_ref.CopyFrom(reference)
    with pytest.raises(BundleTooLarge):
        check_bundle_size(bundle)
