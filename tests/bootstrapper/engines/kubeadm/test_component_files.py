"""Files of control-plane components: on the machine, mounted into the pod, named by an argument."""

import json
from typing import Any

import pytest
import yaml

from tests.bootstrapper.engines.kubeadm.conftest import PROVIDER_LAYOUT

CONTROL_PLANE = "intent { kubernetes { control_plane { %s } } }"
EVERYTHING = (
    CONTROL_PLANE
    % """
  audit {
    policy { text: "policy" } log_path: "/var/log/a/audit.log" max_age_days: 30 max_backups: 0 max_size_mib:
    100
  } encryption { configuration { segments { text: "key: " } segments { secret_ref { name: "enc" key: "k" } }
  } } authentication_webhook { kubeconfig { text: "webhook" } cache_ttl { seconds: 90 } version: "v1" }
  files { name: "admission" component: "api-server" argument: "admission-control-config-file" content {
  text: "adm" } } files { name: "policy" component: "scheduler" argument: "config" content { text: "sched" }
  } files { name: "plain" component: "controller-manager" content { text: "cm" } } origin { document: "D"
  path: "spec.controlPlane" }
"""
)
FOLDER = "/etc/kubernetes/slipway"
FILES = {
    f"{FOLDER}/api-server/audit-policy": "policy",
    f"{FOLDER}/api-server/encryption-configuration": "key: <enc>",
    f"{FOLDER}/api-server/authentication-webhook": "webhook",
    f"{FOLDER}/api-server/admission": "adm",
    f"{FOLDER}/scheduler/policy": "sched",
    f"{FOLDER}/controller-manager/plain": "cm",
}
API_SERVER = {
    "audit-policy-file": f"{FOLDER}/api-server/audit-policy",
    "audit-log-path": "/var/log/a/audit.log",
    "audit-log-maxage": "30",
    "audit-log-maxbackup": "0",
    "audit-log-maxsize": "100",
    "encryption-provider-config": f"{FOLDER}/api-server/encryption-configuration",
    "authentication-token-webhook-config-file": f"{FOLDER}/api-server/authentication-webhook",
    "authentication-token-webhook-cache-ttl": "1m30s",
    "authentication-token-webhook-version": "v1",
    "admission-control-config-file": f"{FOLDER}/api-server/admission",
}


def cluster(machines: Any, *texts: str) -> dict[str, Any]:
    """Give the ClusterConfiguration of a first machine."""
    found: dict[str, Any] = next(yaml.safe_load_all(machines.config("ROLE_INIT", *texts)))
    return found


@pytest.mark.parametrize("role", ["ROLE_INIT", "ROLE_CONTROL_PLANE"])
def test_every_control_plane_machine_has_the_files(machines: Any, role: str) -> None:
    """The arguments come from the cluster's configuration, but the files must lie on each machine."""
    files = {file.path: file for file in machines.plan(role, EVERYTHING).files if file.path.startswith(FOLDER)}
    assert {path: machines.text(file.content) for path, file in files.items()} == FILES
    assert {file.mode for file in files.values()} == {0o600}
    assert {file.origin.path for file in files.values()} == {"spec.controlPlane"}


def test_a_worker_has_none_of_them(machines: Any) -> None:
    """Encryption keys do not leave the control plane."""
    assert len(machines.plan("ROLE_WORKER", EVERYTHING).files) == 1


def test_arguments_name_the_files_and_volumes_show_them(machines: Any) -> None:
    """Each component has its own; every named file is mounted read-only, the log's folder is writable."""
    document = cluster(machines, EVERYTHING)
    assert {one["name"]: one["value"] for one in document["apiServer"]["extraArgs"]} == API_SERVER
    assert document["scheduler"]["extraArgs"] == [{"name": "config", "value": f"{FOLDER}/scheduler/policy"}]
    assert "extraArgs" not in document["controllerManager"]
    mounted = {
        volume["mountPath"]: volume
        for component in ("apiServer", "scheduler", "controllerManager")
        for volume in document[component]["extraVolumes"]
    }
    assert set(mounted) == {*FILES, "/var/log/a"}
    assert all(mounted[path]["readOnly"] and mounted[path]["pathType"] == "File" for path in FILES)
    assert mounted["/var/log/a"] == {
        "name": "slipway-audit-log",
        "hostPath": "/var/log/a",
        "mountPath": "/var/log/a",
        "pathType": "DirectoryOrCreate",
    }


def test_an_audit_policy_alone_has_a_log(machines: Any) -> None:
    """Without a path nothing would be written; without limits none are said."""
    document = cluster(machines, CONTROL_PLANE % 'audit { policy { text: "p" } }')
    assert [one["name"] for one in document["apiServer"]["extraArgs"]] == ["audit-policy-file", "audit-log-path"]


def test_an_argument_of_both_is_refused(machines: Any) -> None:
    """The user's own argument and the one that a field sets would contradict each other."""
    text = """audit { policy { text: "p" } }
    api_server { arguments { name: "v" value: "1" } arguments { name: "audit-log-path" value: "-" } }"""
    (refusal,) = machines.plan("ROLE_INIT", CONTROL_PLANE % text).refusals
    assert refusal.path == "intent.kubernetes.control_plane.api_server.arguments[1]"
    assert refusal.feature == "kubernetes.control_plane.api_server.arguments"


def test_an_imported_control_plane_that_joins_is_patched(machines: Any) -> None:
    """Its ConfigMap is Cluster API's, which knows none of them: each argument, and each path that a pod must see."""
    result = machines.plan("ROLE_CONTROL_PLANE", EVERYTHING, PROVIDER_LAYOUT)
    patches = {
        file.path.rpartition("/")[2]: json.loads(machines.text(file.content))
        for file in result.files
        if "kubeadm-patches/" in file.path
    }
    pods = ("kube-apiserver", "kube-scheduler", "kube-controller-manager")
    assert sorted(patches) == sorted(
        [f"{pod}slipway+strategic.json" for pod in pods] + [f"{pod}slipway+json.json" for pod in pods[:2]]
    )
    added = [entry["value"] for entry in patches["kube-apiserverslipway+json.json"]]
    assert added == [f"--{name}={value}" for name, value in API_SERVER.items()]
    assert {(entry["op"], entry["path"]) for entry in patches["kube-apiserverslipway+json.json"]} == {
        ("add", "/spec/containers/0/command/-")
    }
    init = cluster(machines, EVERYTHING)["apiServer"]["extraVolumes"]
    spec = patches["kube-apiserverslipway+strategic.json"]["spec"]
    assert [(volume["name"], *volume["hostPath"].values()) for volume in spec["volumes"]] == [
        (volume["name"], volume["hostPath"], volume["pathType"]) for volume in init
    ]
    (container,) = spec["containers"]
    assert container["name"] == "kube-apiserver"
    assert [(mount["name"], mount["mountPath"], mount["readOnly"]) for mount in container["volumeMounts"]] == [
        (volume["name"], volume["mountPath"], volume.get("readOnly", False)) for volume in init
    ]


@pytest.mark.parametrize(("role", "layout"), [("ROLE_INIT", PROVIDER_LAYOUT), ("ROLE_CONTROL_PLANE", "")])
def test_others_are_not_patched(machines: Any, role: str, layout: str) -> None:
    """The first machine writes the ConfigMap, and Slipway's own later ones find there what it wrote."""
    assert not [file for file in machines.plan(role, EVERYTHING, layout).files if "patches" in file.path]
