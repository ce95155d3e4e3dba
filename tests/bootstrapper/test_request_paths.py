"""Every refusal of ProvisioningService names fields of the request that it answers, in its texts as well."""

import re
from typing import Any

import pytest

from slipway.bootstrapper.policy import Policy
from slipway.bootstrapper.problems.request_words import leads
from slipway.bootstrapper.provisioning_service import explain_provision, provision
from slipway.contract.errors import BundleInvalid, SlipwayError, UnsupportedFeature
from slipway.v1alpha1 import provisioning_service_pb2 as provisioningpb
from tests.bootstrapper.provision_requests import SPEC, changed, refusal, request, service
from tests.bootstrapper.refused_requests import LINUX, REFUSALS, WINDOWS

pytestmark = pytest.mark.long

_PATH = re.compile(r"(?<![\w./-])(?:[a-z]\w*(?:\[\d+\])?\.)*[a-z]\w*\[\d+\](?:\.[a-z]\w*(?:\[\d+\])?)*")
_FOREIGN = re.compile(r"(?<![\w.])(?:request|bundle|intent|machine|cluster)\.[a-z]|(?<![\w.])target\.[a-z]|\(through ")


def _check(error: SlipwayError) -> None:
    """Insist on paths and texts of the request's own."""
    descriptor = provisioningpb.ProvisionRequest.DESCRIPTOR
    texts = [error.message, *error.metadata.values()]
    for violation in error.violations:
        assert leads(descriptor, violation.path), (violation.path, violation.description)
        assert "_" not in violation.path
        texts += [violation.description, violation.remedy]
    for text in texts:
        assert not _FOREIGN.search(text), text
        for path in _PATH.findall(text):
            assert leads(descriptor, path), (path, text)


@pytest.mark.parametrize("name", REFUSALS)
async def test_a_refusal_names_the_callers_own_fields(name: str) -> None:
    """Paths lead to fields of ProvisionRequest, the cause is among them, each has a remedy, and texts are alike."""
    spec, more, reason, path = REFUSALS[name]
    error = await refusal(request(spec, **more))
    assert error.reason == reason, error
    _check(error)
    assert not path or path in [violation.path for violation in error.violations], error.violations
    assert error.violations
    assert all(violation.remedy for violation in error.violations), error.violations


@pytest.mark.parametrize(
    "policy", [Policy(denied_features=frozenset({"os.commands"})), Policy(allowed_features=frozenset())]
)
async def test_what_the_operator_denies_is_named_alike(policy: Policy) -> None:
    """The operator's policy names the caller's fields as well."""
    error = await refusal(request(SPEC), policy)
    assert error.reason == "FEATURE_DENIED"
    _check(error)


@pytest.mark.parametrize(
    "path", ["os.files[0].content.segments[3]", "bundle.os.files[9]", "plan.entrypoint.argv[0]", "x.y"]
)
@pytest.mark.parametrize("kind", [BundleInvalid, UnsupportedFeature])
async def test_what_a_provisioner_says_of_a_bundle_is_placed(
    kind: type[SlipwayError], path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever path it names, the caller gets one of its own; what Slipway has added has none but the spec."""
    made = service()

    async def render(*_: object, **__: object) -> Any:
        raise kind("no", violations=[(path, "is bad")])

    monkeypatch.setattr(made.provisioners, "render", render, raising=False)
    with pytest.raises(SlipwayError) as caught:
        await provision(made, request(SPEC))
    _check(caught.value)


@pytest.mark.parametrize("name", REFUSALS)
async def test_explain_names_the_callers_own_fields(name: str) -> None:
    """Rows, remarks and reasons of a dry run do so, too."""
    spec, more, *_ = REFUSALS[name]
    provision_request = request(spec, **more)
    question = provisioningpb.ExplainProvisionRequest(
        spec=provision_request.spec, machine_name=provision_request.machine_name
    )
    try:
        answer = await explain_provision(service(), question)
    except SlipwayError as error:
        _check(error)
        return
    descriptor = provisioningpb.ProvisionRequest.DESCRIPTOR
    texts = [column.refusal for column in answer.columns]
    texts += [text for row in answer.rows for cell in row.cells for text in (cell.reason, cell.remedy)]
    texts += [remark.message for remark in answer.diagnostics]
    assert all(leads(descriptor, row.origin.path) for row in answer.rows)
    assert all(leads(descriptor, remark.origin.path) for remark in answer.diagnostics if remark.origin.path)
    for text in texts:
        assert not _FOREIGN.search(text), text


async def test_what_nothing_knows_is_remarked_on() -> None:
    """Valid words that nothing here knows may be misspelt: the answer says so, at the caller's field."""
    target = {**LINUX, "infrastructure": "mars"}
    answer = await provision(service(), request(changed(target=target, optionalFeatures=["os.nosuch", "ext.a.b/c"])))
    places = {remark.code: remark.origin.path for remark in answer.diagnostics}
    assert places["INFRASTRUCTURE_UNKNOWN"] == "spec.target.infrastructure"
    assert places["OPTIONAL_FEATURE_UNKNOWN"] == "spec.optionalFeatures[0]"
    spec = changed(target={**WINDOWS, "distribution": "flatcar"})
    question = provisioningpb.ExplainProvisionRequest(spec=request(spec).spec)
    remarks = (await explain_provision(service(), question)).diagnostics
    assert "spec.target.distribution" in [
        remark.origin.path for remark in remarks if remark.code == "DISTRIBUTION_DOUBTED"
    ]
