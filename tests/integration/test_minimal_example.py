"""The example provisioner by itself: as small as it says, and as strict as the contract wants."""

import ast
import asyncio
import hashlib
import json

import pytest

from slipway.contract.errors import SlipwayError
from slipway.contract.features import compute_features
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import invoke
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1.provisioner_service_pb2_grpc import ProvisionerServiceStub
from tests.integration.machines import EXAMPLE, minimal_provisioner


def render(bundle: bundlepb.BootstrapBundle, *, validate_only: bool = False) -> provisionerpb.RenderResponse:
    """Render by the example, in its own process."""

    async def call(address: str) -> provisionerpb.RenderResponse:
        channels = ChannelPool(tls=None, trust_domain="slipway")
        request = provisionerpb.RenderRequest(
            request_tag="t", bundle=bundle, format="file-list", validate_only=validate_only
        )
        try:
            stub = ProvisionerServiceStub(channels.get(address))
            return await invoke(stub.Render, request, timeout=20, wait_for_ready=True)
        finally:
            await channels.close()

    with minimal_provisioner() as address:
        return asyncio.run(call(address))


def bundle() -> bundlepb.BootstrapBundle:
    """Give the smallest bundle there is."""
    made = bundlepb.BootstrapBundle(id="b")
    made.os.files.add(path="/f", owner="root", group="root", mode=0o600)
    made.plan.entrypoint.argv.append("true")
    return made


@pytest.mark.parametrize(("name", "most"), [("provisioner.py", 50), ("first-boot.py", 20)])
def test_it_is_as_small_as_it_says(name: str, most: int) -> None:
    """It has no more lines than people are told, and needs nothing of ours but the generated messages."""
    source = (EXAMPLE / name).read_text(encoding="utf-8")
    assert len(source.splitlines()) <= most
    imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {getattr(node, "module", None) or node.names[0].name for node in imports}
    assert {name for name in names if name.startswith(("slipway", "tools"))} <= {"slipway.v1alpha1"}


def test_it_splices_segments_as_told() -> None:
    """A secret is written raw, as a JSON string and in base64."""
    one = bundle()
    one.secrets.secrets.add(name="s", key="k", value=b'"')
    for encoding in contentpb.SpliceEncoding.values():
        one.os.files[0].content.segments.add(encoding=encoding).secret_ref.name = "s"
        one.os.files[0].content.segments[-1].secret_ref.key = "k"
    compute_features(one)
    answer = render(one)
    assert json.loads(answer.user_data)["files"][0]["content"] == "IiIiXCIiSWc9PQ=="  # ""  "\""  Ig==
    assert answer.sha256 == hashlib.sha256(answer.user_data).digest()
    assert render(one, validate_only=True).user_data == b""


@pytest.mark.parametrize(
    ("reason", "code", "computed", "append"),
    [
        ("UNSUPPORTED_FEATURE", "FAILED_PRECONDITION", True, True),
        ("FEATURES_NOT_COMPUTED", "INVALID_ARGUMENT", False, False),
    ],
)
def test_it_refuses_what_it_does_not_know(*, reason: str, code: str, computed: bool, append: bool) -> None:
    """A bundle with an undeclared feature, or without its list of features, is refused with the table's reason."""
    one = bundle()
    if append:
        one.os.files.append(ospb.File(path="/g", append=True))
    compute_features(one)
    one.features_computed = computed
    with pytest.raises(SlipwayError) as caught:
        render(one)
    assert (caught.value.reason, caught.value.code.name) == (reason, code)
