"""Every refusal of ProvisioningService names fields of the request that it answers, in its texts as well."""

import base64
import re
from typing import Any

import pytest

from slipway.bootstrapper.policy import Policy
from slipway.bootstrapper.problems.request_words import leads
from slipway.bootstrapper.provisioning_service import explain_provision, provision
from slipway.contract.errors import BundleInvalid, SlipwayError, UnsupportedFeature
from slipway.v1alpha1 import provisioning_service_pb2 as provisioningpb
from tests.bootstrapper.provision_requests import SPEC, changed, refusal, request, service

pytestmark = pytest.mark.long

WINDOWS = {"osFamily": "OS_FAMILY_WINDOWS"}
LINUX = SPEC["target"]
STEP = SPEC["plan"]["steps"][0]
JOIN = {"name": "join", "key": "token"}


def _secret(value: bytes = b"x", **more: Any) -> dict[str, Any]:
    return {"secrets": [{**JOIN, "value": base64.b64encode(value).decode(), **more}]}


def _script(*segments: dict[str, Any]) -> dict[str, Any]:
    return {"steps": [{**STEP, "command": {"script": {"segments": list(segments)}}}]}


def _file(*segments: dict[str, Any]) -> dict[str, Any]:
    return {"files": [{"path": "/a", "content": {"segments": [{"text": "a"}, {"text": "b"}, *segments]}}]}


JSON = {"secretRef": JOIN, "encoding": "SPLICE_ENCODING_JSON_STRING"}
FACT = {"fact": {"kind": "FACT_KIND_REGION"}}

REFUSALS: dict[str, tuple[dict[str, Any], dict[str, Any], str, str]] = {
    "no plan": (changed(plan=None), {}, "SPEC_INVALID", "spec.plan"),
    "no name": (SPEC, {"machineName": ""}, "SPEC_INVALID", "machineName"),
    "a name for no Secret": (
        changed(os={"directory": {"domain": "a.example", "method": "DIRECTORY_JOIN_METHOD_KEYTAB"}}),
        {"machineName": ".".join(["a" * 60] * 3 + ["b" * 63])},
        "SPEC_INVALID",
        "machineName",
    ),
    "a doubled sysctl": (changed(os={"sysctls": SPEC["os"]["sysctls"] * 2}), {}, "SPEC_INVALID", "spec.os.sysctls[1]"),
    "a doubled module": (
        changed(os={"kernelModules": [{"name": "a"}] * 2}),
        {},
        "SPEC_INVALID",
        "spec.os.kernelModules[1]",
    ),
    "a doubled step": (changed(plan={"steps": [STEP, STEP]}), {}, "SPEC_INVALID", "spec.plan.steps[1].id"),
    "a doubled path": (
        changed(os={"files": [{"path": "/a", "content": {"text": "a"}}] * 2}),
        {},
        "SPEC_INVALID",
        "spec.os.files[1]",
    ),
    "a label of no partition": (
        changed(
            os={
                "disks": [{"device": "/dev/sdb", "overwrite": True, "partitions": [{"label": "a"}]}],
                "mounts": [{"partition": {"disk": "/dev/sdb", "label": "b"}, "path": "/b"}],
            }
        ),
        {},
        "SPEC_INVALID",
        "spec.os.mounts[0].partition.label",
    ),
    "two credentials for a host": (
        changed(
            os={
                "containerd": {
                    "registries": [
                        {
                            "host": host,
                            "server": "https://a.example",
                            "credentials": {"username": "a", "password": {"value": "b"}},
                        }
                        for host in ("docker.io", "registry-1.docker.io")
                    ]
                }
            }
        ),
        {},
        "SPEC_INVALID",
        "spec.os.containerd.registries[1].credentials",
    ),
    "a doubled secret": (
        SPEC,
        {"secrets": {"secrets": _secret()["secrets"] * 2}},
        "SPEC_INVALID",
        "secrets.secrets[1]",
    ),
    "a secret that nothing refers to": (
        SPEC,
        {"secrets": {"secrets": [*_secret()["secrets"], {"name": "other", "key": "a", "value": "YQ=="}]}},
        "SPEC_INVALID",
        "secrets.secrets[1]",
    ),
    "an empty secret": (SPEC, {"secrets": _secret(b"")}, "SPEC_INVALID", "secrets.secrets[0].value"),
    "a missing secret": (SPEC, {"secrets": {}}, "SECRET_MISSING", "spec.os.files[0].content.segments[1].secretRef"),
    "a missing secret of a step": (
        changed(plan=_script({"text": "a"}, {"secretRef": {"name": "b", "key": "c"}})),
        {},
        "SECRET_MISSING",
        "spec.plan.steps[0].command.script.segments[1].secretRef",
    ),
    "an expired secret": (
        SPEC,
        {"secrets": _secret(expireTime="2001-01-01T00:00:00Z")},
        "SECRET_EXPIRED",
        "secrets.secrets[0].expireTime",
    ),
    "a secret that is no text, in a file": (
        changed(os=_file(JSON)),
        {"secrets": _secret(b"\xff")},
        "SPEC_INVALID",
        "spec.os.files[0].content.segments[2]",
    ),
    "a secret that is no text, in a step": (
        changed(os=None, plan=_script({"text": "a"}, JSON)),
        {"secrets": _secret(b"\xff")},
        "SPEC_INVALID",
        "spec.plan.steps[0].command.script.segments[1]",
    ),
    "a plain password in place of a hash": (
        changed(os={"users": [{"name": "ops", "passwordHash": {"secretRef": JOIN}}]}),
        {},
        "SPEC_INVALID",
        "spec.os.users[0].passwordHash.secretRef",
    ),
    "Windows with Ignition": (
        changed(target=WINDOWS, provisioner={"name": "ignition"}),
        {},
        "UNSUPPORTED_TARGET",
        "spec.target.osFamily",
    ),
    "Windows with any of a format": (
        changed(target=WINDOWS, provisioner={"format": "cloud-config"}),
        {},
        "UNSUPPORTED_TARGET",
        "spec.target.osFamily",
    ),
    "a distribution without profile": (
        changed(
            target={**LINUX, "distribution": "nosuch"},
            os={"timeZone": {"name": "UTC"}},
            provisioner={"name": "ignition"},
        ),
        {"secrets": {}},
        "UNSUPPORTED_FEATURE",
        "spec.os.timeZone",
    ),
    "a distribution of another format": (
        changed(target={**LINUX, "distribution": "bottlerocket"}),
        {},
        "UNSUPPORTED_TARGET",
        "spec.target.distribution",
    ),
    "a fact without source": (
        changed(os=_file(FACT), target={**LINUX, "infrastructure": "nosuch"}, provisioner={"name": "ignition"}),
        {"secrets": {}},
        "UNSUPPORTED_FEATURE",
        "",
    ),
    "no such provisioner": (
        changed(provisioner={"name": "nosuch"}),
        {},
        "PROVISIONER_NOT_FOUND",
        "spec.provisioner.name",
    ),
    "no such version": (
        changed(provisioner={"name": "ignition", "version": "99.0.0"}),
        {},
        "PROVISIONER_NOT_FOUND",
        "spec.provisioner.version",
    ),
    "no such format": (
        changed(provisioner={"name": "ignition", "format": "ignition/9.9.9"}),
        {},
        "UNSUPPORTED_FORMAT",
        "spec.provisioner.format",
    ),
    "Windows without what it has not": (
        changed(target=WINDOWS, provisioner={"name": "windows"}),
        {},
        "UNSUPPORTED_FEATURE",
        "spec.os.sysctls[0]",
    ),
    "Talos": (changed(target=None, provisioner={"name": "talos"}), {}, "UNSUPPORTED_FEATURE", "spec.plan"),
    "a program by a relative path": (
        changed(plan={"entrypoint": {"argv": ["../../bin/x"]}}),
        {},
        "SPEC_INVALID",
        "spec.plan.entrypoint.argv[0]",
    ),
    "a ConfigMap": (
        changed(os={"files": [{"path": "/a", "content": {"configMapRef": {"name": "a", "key": "b"}}}]}),
        {},
        "SPEC_INVALID",
        "spec.os.files[0].content.configMapRef",
    ),
    "a large spec": (
        changed(os={"files": [{"path": f"/{name}", "content": {"text": "x" * 900_000}} for name in "abc"]}),
        {"secrets": {}},
        "BUNDLE_TOO_LARGE",
        "spec.os.files[0]",
    ),
    "large user data": (
        changed(os={"files": [*SPEC["os"]["files"], {"path": "/x", "content": {"text": "x" * 90_000}}]}),
        {},
        "USER_DATA_TOO_LARGE",
        "spec.os.files[1]",
    ),
    "large user data of steps": (
        changed(plan={"steps": [{**STEP, "id": f"a{number}"} for number in range(1000)]}),
        {},
        "USER_DATA_TOO_LARGE",
        "spec.plan.steps",
    ),
    "a large secret": (SPEC, {"secrets": _secret(b"x" * 3_000_000)}, "BUNDLE_TOO_LARGE", "secrets.secrets[0]"),
}

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
