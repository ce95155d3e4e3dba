"""Patches: the user's own, and the kubelet configuration of one machine."""

import json
from typing import Any

import pytest
import yaml

from slipway.contract.errors import BundleInvalid

_FEW_LINES_FOR_MILLIONS = "a0: &a0 [x]\\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\\n" for level in range(1, 8)
)
KUBELET = "intent { kubernetes { node { kubelet_configuration { %s } origin { path: 'spec.node' } } } }"
OWN = "/etc/slipway/kubeadm-patches"


def folder(machines: Any, *texts: str) -> object:
    """Give the folder that kubeadm is told."""
    return yaml.safe_load(machines.config("ROLE_WORKER", *texts)).get("patches", {}).get("directory")


@pytest.mark.parametrize("role", ["ROLE_INIT", "ROLE_CONTROL_PLANE", "ROLE_WORKER"])
def test_a_kubelet_configuration_is_a_merge_patch(machines: Any, role: str) -> None:
    """On every role; without the words that only name its type; values keep their types."""
    text = "apiVersion: kubelet.config.k8s.io/v1beta1\\nkind: KubeletConfiguration\\nmaxPods: 50\\nx: 2026-01-01\\n"
    result = machines.plan(role, KUBELET % f'text: "{text}"')
    (patch,) = [file for file in result.files if file.path.startswith(OWN)]
    assert patch.path == f"{OWN}/kubeletconfigurationslipway+merge.json"
    assert json.loads(machines.text(patch.content)) == {"maxPods": 50, "x": "2026-01-01"}
    assert patch.origin.path == "spec.node"
    assert f"  directory: {OWN}\n" in machines.text(result.files[-1].content)


def test_json_is_yaml(machines: Any) -> None:
    """A document in JSON and as bytes is read too."""
    result = machines.plan("ROLE_WORKER", KUBELET % 'data: "{\\"maxPods\\": 50}" media_type: "application/json"')
    assert json.loads(machines.text(result.files[0].content)) == {"maxPods": 50}


@pytest.mark.parametrize(
    "document",
    [
        "a: b: c",
        "- a",
        "hunter2",
        "",
        "kind: Pod",
        "a: .nan",
        "a: 1\\n---\\nb: 2",
        "a: !!python/object:os.system x",
        "\\xff",
        "maxPods: 1\\nmaxPods: 2",
        "[" * 3000,
        _FEW_LINES_FOR_MILLIONS,
    ],
)
def test_what_is_no_kubelet_configuration_is_refused(machines: Any, document: str) -> None:
    """By field, and without a word of it."""
    with pytest.raises(BundleInvalid) as caught:
        machines.plan("ROLE_WORKER", KUBELET % f'data: "{document}"')
    assert [one.path for one in caught.value.violations] == ["intent.kubernetes.node.kubelet_configuration"]
    assert "hunter2" not in str(caught.value.to_status())


def test_the_users_patches_lie_in_their_folder(machines: Any) -> None:
    """In the folder that they name, or in Slipway's; beside the kubelet's."""
    patch = 'patches { name: "etcd+json.yaml" content { text: "x" } }'
    named = f'engine_options {{ kubeadm {{ {patch} patches_directory: "/p/" }} }}'
    both = machines.plan("ROLE_WORKER", named, KUBELET % 'text: "maxPods: 1"')
    assert [file.path for file in both.files[:2]] == [
        "/p/etcd+json.yaml",
        "/p/kubeletconfigurationslipway+merge.json",
    ]
    assert folder(machines, named) == "/p/"
    assert folder(machines, f"engine_options {{ kubeadm {{ {patch} }} }}") == OWN
    assert folder(machines) is None


def test_patches_on_windows(machines: Any) -> None:
    """Backslashes below a Windows folder, slashes below one that is written with them."""
    patch = 'patches { name: "a.yaml" content { text: "x" } }'
    own = machines.plan("ROLE_WORKER", f"engine_options {{ kubeadm {{ {patch} }} }}", windows=True)
    named = machines.plan(
        "ROLE_WORKER", f'engine_options {{ kubeadm {{ {patch} patches_directory: "C:/p" }} }}', windows=True
    )
    assert own.files[0].path == "C:\\ProgramData\\slipway\\kubeadm-patches\\a.yaml"
    assert named.files[0].path == "C:/p/a.yaml"
