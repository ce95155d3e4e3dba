"""Specs with which programs do not start: flags that they do not have, swap that the kubelet does not accept."""

from typing import Any

import pytest

from slipway.bootstrapper.engines.program_flags import FlagStatus, flag_status

NODE = "intent { kubernetes { node { %s } } }"
SWAP = "os { swaps { path: '/swap' size_mib: 64 } }"
MOUNT = "os { mounts { source: 'LABEL=swap' path: 'none' type: 'swap' } mounts { source: 'a' path: '/a' } }"
PROVIDER = "execution { literal_commands: true }"
TOLERANT = [
    NODE % "kubelet_arguments { name: 'fail-swap-on' value: 'false' }",
    NODE % "kubelet_configuration { text: 'failSwapOn: false' }",
    "engine_options { kubeadm { patches_directory: '/etc/patches' } }",
    "engine_options { kubeadm { patches { name: 'kubeletconfiguration+merge.yaml' content { text: 'a: b' } } } }",
]
FLAGS = [
    ("register-schedulable", (1, 28), FlagStatus.KNOWN, "of the oldest kubelet in the table"),
    ("register-schedulable", (1, 33), FlagStatus.KNOWN, "of the last kubelet that has it"),
    ("register-schedulable", (1, 34), FlagStatus.UNKNOWN, "removed there"),
    ("keep-terminated-pod-volumes", (1, 30), FlagStatus.KNOWN, "of the last kubelet that has it"),
    ("keep-terminated-pod-volumes", (1, 31), FlagStatus.UNKNOWN, "removed there"),
    ("pod-infra-container-image", (1, 34), FlagStatus.KNOWN, "deprecated"),
    ("pod-infra-container-image", (1, 35), FlagStatus.UNKNOWN, "removed there"),
    ("pod-infra-container-image", (1, 36), FlagStatus.UNCERTAIN, "no newer kubelet is known"),
    ("log-text-split-stream", (1, 29), FlagStatus.UNKNOWN, "came later"),
    ("fail-cgroupv1", (1, 30), FlagStatus.UNKNOWN, "came later"),
    ("fail_cgroupv1", (1, 31), FlagStatus.KNOWN, "underscores are dashes"),
    ("housekeeping-interval", (1, 32), FlagStatus.KNOWN, "of cAdvisor"),
    ("logging-format", (1, 33), FlagStatus.KNOWN, "of a library"),
    ("node-labels", (1, 27), FlagStatus.KNOWN, "the nearest kubelet has it"),
    ("network-plugin", (1, 35), FlagStatus.UNKNOWN, "removed with dockershim"),
    ("network-plugin", (1, 23), FlagStatus.UNCERTAIN, "older than any kubelet that is known"),
]


@pytest.mark.parametrize(("flag", "series", "status", "reason"), FLAGS)
def test_a_flag_is_judged_by_the_kubelets_of_the_table(
    flag: str, series: tuple[int, int], status: FlagStatus, reason: str
) -> None:
    """What the kubelet of a version has is known, and where none was read the nearest ones must agree."""
    assert flag_status("kubelet", flag, series) is status, reason


COMPONENTS = [
    ("kube-apiserver", "cloud-provider-gce-lb-src-cidrs", (1, 30), FlagStatus.KNOWN, "the help of 1.30 hides it"),
    ("kube-controller-manager", "cloud-provider-gce-lb-src-cidrs", (1, 34), FlagStatus.UNKNOWN, "gone since"),
    ("kube-apiserver", "insecure-port", (1, 30), FlagStatus.UNKNOWN, "removed long before"),
    ("kube-apiserver", "cloud-provider", (1, 30), FlagStatus.KNOWN, "hidden and deprecated"),
    ("kube-apiserver", "cloud-provider", (1, 34), FlagStatus.UNKNOWN, "removed in between"),
    ("kube-apiserver", "cloud-provider", (1, 32), FlagStatus.UNCERTAIN, "removed before or after"),
    ("kube-apiserver", "secure_port", (1, 34), FlagStatus.KNOWN, "underscores are dashes"),
    ("kube-controller-manager", "cloud-provider", (1, 34), FlagStatus.KNOWN, "kept there"),
    ("kube-controller-manager", "pod-eviction-timeout", (1, 30), FlagStatus.UNKNOWN, "removed long before"),
    ("kube-scheduler", "profiling", (1, 33), FlagStatus.KNOWN, "on both sides"),
    ("kube-scheduler", "algorithm-provider", (1, 34), FlagStatus.UNKNOWN, "removed long before"),
    ("kube-scheduler", "algorithm-provider", (1, 22), FlagStatus.UNCERTAIN, "older than any that is known"),
]
OLD_FLAGS = """intent { kubernetes { control_plane {
    api_server { arguments { name: 'v' value: '2' } arguments { name: 'insecure-port' value: '0' } }
    controller_manager { arguments { name: 'pod-eviction-timeout' value: '5m' } }
    scheduler { arguments { name: 'algorithm-provider' value: 'a' } }
    files { name: 'a' component: 'scheduler' argument: 'policy-config-file' content { text: 'a' } }
    files { name: 'b' component: 'scheduler' argument: 'config' content { text: 'a' } }
} } }"""
OLD_PATHS = [
    f"intent.kubernetes.control_plane.{path}"
    for path in (
        "api_server.arguments[1]",
        "controller_manager.arguments[0]",
        "scheduler.arguments[0]",
        "files[0].argument",
    )
]
OLD_NAMES = ["insecure-port", "pod-eviction-timeout", "algorithm-provider", "policy-config-file"]


@pytest.mark.parametrize(("program", "flag", "series", "status", "reason"), COMPONENTS)
def test_a_flag_of_a_component_is_judged_by_that_component(
    program: str, flag: str, series: tuple[int, int], status: FlagStatus, reason: str
) -> None:
    """Each program has flags of its own, and an unknown version refuses none."""
    assert flag_status(program, flag, series) is status, reason


def assert_named(messages: list[str], names: list[str]) -> None:
    """Each message names its flag: an import shows where the flags of a component stand, and not at which of them."""
    assert [name in message for name, message in zip(names, messages, strict=True)] == [True] * len(names), messages


def test_flags_that_a_component_does_not_have_are_refused(machines: Any) -> None:
    """At the argument; an imported spec and one of a version that is not known keep it, with a warning."""
    refusals = machines.plan("ROLE_INIT", OLD_FLAGS).refusals
    assert sorted(refusal.path for refusal in refusals) == sorted(OLD_PATHS)
    assert "kube-scheduler of this Kubernetes version" in refusals[2].reason
    assert_named([refusal.reason for refusal in refusals], OLD_NAMES)
    imported = machines.plan("ROLE_INIT", OLD_FLAGS, PROVIDER)
    assert [entry.path for entry in imported.diagnostics if entry.code == "CANNOT_WORK"] == OLD_PATHS
    unknown = machines.plan("ROLE_INIT", OLD_FLAGS, version="v1.32.0")
    assert [entry.path for entry in unknown.diagnostics if entry.code == "VERSION_UNKNOWN"] == OLD_PATHS
    assert_named([entry.message for entry in imported.diagnostics if entry.code == "CANNOT_WORK"], OLD_NAMES)
    assert_named([entry.message for entry in unknown.diagnostics if entry.code == "VERSION_UNKNOWN"], OLD_NAMES)
    assert imported.refusals == unknown.refusals == ()


def test_flags_of_components_do_not_matter_where_none_is_set_up(machines: Any) -> None:
    """A machine that joins takes them from the cluster; its own are not used."""
    for role in ("ROLE_WORKER", "ROLE_CONTROL_PLANE"):
        assert machines.plan(role, OLD_FLAGS).refusals == ()


@pytest.mark.parametrize("minor", [22, 27, 36, 40])
def test_no_flag_is_refused_where_no_kubelet_is_known(machines: Any, minor: int) -> None:
    """A version before or behind those of the table may have any flag: at most there is a warning."""
    names = ["register-schedulable", "fail-cgroupv1", "node-labels", "never-a-flag"]
    assert FlagStatus.UNKNOWN not in {flag_status("kubelet", name, (1, minor)) for name in names}
    text = NODE % " ".join(f"kubelet_arguments {{ name: '{name}' value: 'a' }}" for name in names)
    assert machines.plan("ROLE_WORKER", text, version=f"v1.{minor}.0").refusals == ()


def test_flags_that_the_kubelet_does_not_have_are_refused(machines: Any) -> None:
    """At the argument; an imported spec keeps it with a warning, as does one of a version that is not known."""
    text = NODE % "kubelet_arguments { name: 'v' } kubelet_arguments { name: 'network-plugin' value: 'cni' }"
    path = "intent.kubernetes.node.kubelet_arguments[1]"
    (refusal,) = machines.plan("ROLE_WORKER", text).refusals
    assert (refusal.path, refusal.feature) == (path, "kubernetes.node.kubelet_arguments")
    imported = machines.plan("ROLE_WORKER", text, PROVIDER)
    assert [(entry.code, entry.path) for entry in imported.diagnostics] == [("CANNOT_WORK", path)]
    unknown = machines.plan("ROLE_WORKER", text, version="v1.36.0")
    assert [(entry.code, entry.path) for entry in unknown.diagnostics] == [("VERSION_UNKNOWN", path)]
    assert_named([refusal.reason], ["network-plugin"])
    assert_named([entry.message for entry in (*imported.diagnostics, *unknown.diagnostics)], ["network-plugin"] * 2)
    assert imported.refusals == unknown.refusals == ()


@pytest.mark.parametrize(("text", "path"), [(SWAP, "os.swaps[0]"), (MOUNT, "os.mounts[0]")])
def test_swap_needs_a_kubelet_that_accepts_it(machines: Any, text: str, path: str) -> None:
    """Refused where it is written; an imported spec keeps it with a warning."""
    (refusal,) = machines.plan("ROLE_WORKER", text).refusals
    assert refusal.path == path
    assert "failSwapOn" in refusal.remedy
    imported = machines.plan("ROLE_WORKER", text, PROVIDER)
    assert [(entry.code, entry.path) for entry in imported.diagnostics] == [("CANNOT_WORK", path)]
    strict = NODE % "kubelet_configuration { text: 'failSwapOn: true' }"
    assert [entry.path for entry in machines.plan("ROLE_WORKER", text, strict).refusals] == [path]


@pytest.mark.parametrize("tolerance", TOLERANT)
def test_swap_is_allowed_where_the_kubelet_accepts_it(machines: Any, tolerance: str) -> None:
    """By flag, field, or a patch of whose content nothing is known."""
    assert machines.plan("ROLE_WORKER", SWAP, tolerance).refusals == ()


def test_the_kubelet_of_windows_has_a_few_flags_more(machines: Any) -> None:
    """It is the same program beside these: what the one does not have, the other does not have, either."""
    own = (
        NODE % "kubelet_arguments { name: 'windows-service' value: 'true' } kubelet_arguments { name: 'v' value: '2' }"
    )
    assert machines.plan("ROLE_WORKER", own, windows=True, format_id="cloudbase-init").refusals == ()
    foreign = NODE % "kubelet_arguments { name: 'container-runtime' value: 'remote' }"
    (refusal,) = machines.plan("ROLE_WORKER", foreign, windows=True, format_id="cloudbase-init").refusals
    assert refusal.path == "intent.kubernetes.node.kubelet_arguments[0]"
    assert machines.plan("ROLE_WORKER", own, windows=False).refusals[0].path == refusal.path
