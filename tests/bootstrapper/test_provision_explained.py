"""ExplainProvision: the result of each field, and the size, before there are secrets."""

import base64
from typing import Any

import pytest

from slipway.bootstrapper.placeholders import PLACEHOLDER
from slipway.bootstrapper.provisioning_service import explain_provision, provision
from slipway.contract.errors import SlipwayError
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import provisioning_service_pb2 as provisioningpb
from tests.bootstrapper.provision_requests import SPEC, changed, request, service


async def test_explain_needs_no_secrets() -> None:
    """Each field has a cell for each format; a plan is executed where a format takes plans, and refused by Talos."""
    answer = await explain_provision(service(), provisioningpb.ExplainProvisionRequest(spec=request(SPEC).spec))
    verdicts = {
        (column.provisioner, row.origin.path, row.feature): row.cells[index].verdict
        for index, column in enumerate(answer.columns)
        for row in answer.rows
    }
    step = ("spec.plan.steps[0]", "plan.steps")
    assert "spec.os.files[0]" in {place for _, place, _ in verdicts}
    assert verdicts["talos", "spec.commands.pre[0]", "os.commands.pre"] == bootstrappb.VERDICT_REFUSED
    assert verdicts["cloud-init", *step] == bootstrappb.VERDICT_LOWERED
    assert verdicts["talos", *step] == bootstrappb.VERDICT_REFUSED


def _with_text(size: int) -> dict[str, Any]:
    """Give the spec with so much more text, for an infrastructure that takes 32,768 bytes."""
    files = [*SPEC["os"]["files"], {"path": "/srv/text", "content": {"text": "x" * size}}]
    return changed(os={**SPEC["os"], "files": files}, target={**SPEC["target"], "infrastructure": "hetzner"})


@pytest.mark.parametrize("secret", [PLACEHOLDER, PLACEHOLDER * 3])
async def test_explain_measures_what_provision_makes(secret: bytes) -> None:
    """To the byte where secrets have the length of the stand-ins; of longer ones there is a warning."""
    value = base64.b64encode(secret).decode()
    secrets = {"secrets": [{"name": "join", "key": "token", "value": value}]}
    size = (await provision(service(), request(_with_text(1), secrets=secrets))).size.raw_bytes
    most = 32768 - size + 1
    fits = [await _fits(_with_text(length), secrets) for length in (most, most + 1)]
    assert [provisioned for provisioned, _, _ in fits] == [True, False]
    if secret == PLACEHOLDER:
        assert [explained for _, explained, _ in fits] == [True, False]
    assert all("SIZE_DOUBTED" in codes for provisioned, explained, codes in fits if explained and not provisioned)


async def _fits(spec: dict[str, Any], secrets: dict[str, Any]) -> tuple[bool, bool, set[str]]:
    """Whether Provision renders a machine, whether ExplainProvision says that it does, and its diagnostics."""
    question = request(spec, secrets=secrets)
    explain = provisioningpb.ExplainProvisionRequest(spec=question.spec, machine_name=question.machine_name)
    answer = await explain_provision(service(), explain)
    (column,) = [column for column in answer.columns if column.provisioner == "cloud-init"]
    codes = {diagnostic.code for diagnostic in answer.diagnostics}
    try:
        await provision(service(), question)
    except SlipwayError as error:
        return error.reason != "USER_DATA_TOO_LARGE", column.renderable, codes
    return True, column.renderable, codes
