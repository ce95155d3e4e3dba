"""Requests to ProvisioningService that are refused, with the reason and the path of the field."""

import base64
from typing import Any

from tests.bootstrapper.provision_requests import SPEC, changed

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
