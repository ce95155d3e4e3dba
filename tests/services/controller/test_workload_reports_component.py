"""The manifests for workload clusters: the rights of a Node, and the same names and bounds as in the programs."""

import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from slipway.controller.workload_reports import KEY, NAMESPACE

FOLDER = Path(__file__).resolve().parents[3] / "deploy/kubernetes/workload-reports"
PROGRAM = files("slipway.bootstrapper.lowering.linux").joinpath("programs/cluster_report.sh")


def objects() -> dict[str, dict[str, Any]]:
    """Give the objects, by kind."""
    (path,) = yaml.safe_load((FOLDER / "kustomization.yaml").read_text(encoding="utf-8"))["resources"]
    return {each["kind"]: each for each in yaml.safe_load_all((FOLDER / path).read_text(encoding="utf-8"))}


def test_a_node_may_write_and_nothing_else() -> None:
    """The rights are those of a server-side apply, in one namespace, for Nodes and tokens; nothing is cluster-wide."""
    made = objects()
    assert made["Role"]["rules"] == [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create", "patch"]}]
    assert made["RoleBinding"]["roleRef"]["name"] == made["Role"]["metadata"]["name"]
    subjects = [(subject["kind"], subject["name"]) for subject in made["RoleBinding"]["subjects"]]
    assert subjects == [("Group", "system:nodes"), ("Group", "system:bootstrappers")]
    assert {made[kind]["metadata"]["namespace"] for kind in ("Role", "RoleBinding")} == {NAMESPACE}
    assert made["Namespace"]["metadata"]["name"] == NAMESPACE
    assert made.keys() == {
        "Namespace", "Role", "RoleBinding", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
    }  # fmt: skip


def test_the_policy_is_in_force_for_every_write_of_a_node() -> None:
    """It is bound, denies, fails closed, and concerns creations and updates in that namespace."""
    made = objects()
    policy, binding = made["ValidatingAdmissionPolicy"], made["ValidatingAdmissionPolicyBinding"]
    assert binding["spec"] == {"policyName": policy["metadata"]["name"], "validationActions": ["Deny"]}
    spec = policy["spec"]
    assert spec["failurePolicy"] == "Fail"
    assert spec["matchConstraints"]["namespaceSelector"] == {"matchLabels": {"kubernetes.io/metadata.name": NAMESPACE}}
    (rule,) = spec["matchConstraints"]["resourceRules"]
    assert (rule["resources"], rule["operations"]) == (["configmaps"], ["CREATE", "UPDATE"])
    name, content, _ = (validation["expression"] for validation in spec["validations"])
    assert "request.userInfo.username == 'system:node:' + request.name" in name
    assert f"'{KEY}' in variables.data" in content


def test_the_machine_writes_what_the_policy_lets_through() -> None:
    """Namespace, key and bound of the program are those of the manifests and of the controller."""
    program = PROGRAM.read_text(encoding="utf-8")
    assert f"api/v1/namespaces/{NAMESPACE}/configmaps/$i?" in program
    assert f"  {KEY}: |2" in program
    (sent,) = re.findall(r"tail -c (\d+) events\.jsonl", program)
    (_, content, _) = objects()["ValidatingAdmissionPolicy"]["spec"]["validations"]
    (limit,) = re.findall(r"size\(\) <= (\d+)", content["expression"])
    assert int(sent) < int(limit)
