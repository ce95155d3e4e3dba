"""A wrong reason is worse than none: what is no evidence, what is weak, and what makes weak evidence enough."""

import pytest

from slipway.diagnosis.diagnosis import Diagnosis, Outcome, diagnose
from slipway.diagnosis.log_files import Log

FAILURE = "error execution phase kubelet-start: some other step\n"
REFUSED = "I0101 10:00:01.000000 9 token.go:250] [discovery] Failed to request cluster-info, will try again: connect: connection refused\n"  # noqa: E501
NO_ROUTE = REFUSED.replace("connect: connection refused", "connect: no route to host")
CALM = "I0101 10:00:02.000000 9 a.go:1] nothing to see\n" * 20
DENIED = "/usr/local/bin/agent: Permission denied\n"
NO_NAME = 'a: Get "https://files.example.com": dial tcp: lookup files.example.com: no such host\n'


def of(*texts: str) -> Diagnosis:
    return diagnose([Log(f"{index}.log", text) for index, text in enumerate(texts)])


def reasons(*texts: str) -> list[str]:
    return [finding.rule.reason for finding in of(*texts).findings]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("\t[WARNING Swap]: running with swap on is not supported. Please disable swap", "kubeadm goes on"),
        ("\t[WARNING CRI]: container runtime is not running: unknown service runtime.v1.RuntimeService", "the same"),
        ("Jan 01 10:00:00 n sshd[9]: error: Permission denied", "not of the bootstrap"),
        ("Jan 01 10:00:00 n snapd[9]: lookup api.example.com: Temporary failure in name resolution", "the same"),
        ("Failed to create symlink /sys/fs/cgroup/net_cls: Read-only file system", "systemd in a container"),
        ("E0101 10:00:00.0 9 csi.go:1] MountVolume failed: mount: wrong fs type, bad option on /dev/sdb", "a pod's"),
        ("n kernel: Memory cgroup out of memory: Killed process 9 (java)", "of a pod"),
        ('E0101 10:00:00.0 9 a.go:1] "eviction manager: failed to check" err="no imagefs label"', "of no pressure"),
    ],
)  # fmt: skip
def test_some_lines_are_no_evidence(line: str, reason: str) -> None:
    """They are on healthy machines, or of something else: no answer and no candidate, even before a failure."""
    diagnosis = of(f"{line}\n{FAILURE}")
    assert (diagnosis.findings, diagnosis.candidates) == ((), ()), reason


def test_a_failure_behind_broad_words_is_the_second_evidence() -> None:
    """In front of them, or far behind them, it is not enough."""
    assert reasons(DENIED + CALM + FAILURE) == ["PermissionDenied"]
    assert reasons(DENIED + CALM + CALM + FAILURE) == []
    assert reasons(DENIED + CALM + CALM + DENIED + FAILURE) == ["PermissionDenied"]
    assert reasons(FAILURE + DENIED + CALM) == []
    alone = of(DENIED + CALM)
    assert (alone.outcome, [finding.rule.reason for finding in alone.candidates]) == (
        Outcome.UNKNOWN, ["PermissionDenied"],
    )  # fmt: skip


def test_the_failure_may_be_in_another_log_of_the_machine() -> None:
    """The kubelet's journal has the words, the output of the bootstrap its end."""
    assert reasons(DENIED + CALM, CALM + FAILURE) == reasons(CALM + FAILURE, DENIED + CALM) == ["PermissionDenied"]
    assert reasons(DENIED + CALM + CALM, CALM + FAILURE) == []
    assert reasons(DENIED + CALM, CALM + FAILURE + "This node has joined the cluster\n") == []


def test_the_last_words_of_a_command_need_no_failure_behind_them() -> None:
    """A script that ends with them failed by them; one that went on did not."""
    last = "/opt/join.sh: line 9: kubectx: command not found\n"
    assert reasons(CALM + last) == ["CommandNotFound"]
    assert reasons(last + CALM) == []


def test_units_that_are_no_part_of_the_bootstrap_prove_nothing() -> None:
    """The failure of any unit is no second evidence; that of the runtime or of cloud-init is."""
    failed = "Jan 01 10:00:00 n systemd[1]: {}.service: Main process exited, code=exited, status=1/FAILURE\n"
    assert reasons(DENIED + CALM + failed.format("cups")) == []
    assert reasons(DENIED + CALM + failed.format("containerd")) == ["PermissionDenied"]


def test_what_is_tried_again_counts_at_the_end_or_before_a_failure() -> None:
    """An attempt that is followed by quiet was overcome."""
    assert reasons(CALM + REFUSED) == ["EndpointRefused"]
    assert reasons(REFUSED + CALM) == []
    assert reasons(REFUSED + CALM + FAILURE) == ["EndpointRefused"]


def test_of_repeated_attempts_the_last_is_the_answer() -> None:
    """What an attempt met last is what it failed by."""
    assert reasons(REFUSED + NO_ROUTE) == ["EndpointUnreachable"]
    assert reasons(NO_ROUTE + REFUSED) == ["EndpointRefused"]


def test_broad_words_that_contradict_each_other_are_no_answer() -> None:
    """Both are candidates; one alone is the answer."""
    both = of(DENIED + NO_NAME + FAILURE)
    assert (both.outcome, both.findings) == (Outcome.UNKNOWN, ())
    assert {finding.rule.reason for finding in both.candidates} == {"PermissionDenied", "NameNotFound"}
    assert reasons(NO_NAME + FAILURE) == ["NameNotFound"]


def test_weak_evidence_never_stands_beside_a_sure_cause() -> None:
    """In either order, and whatever its precedence."""
    swap = "[ERROR Swap]: running with swap on is not supported\n"
    for text in (DENIED + swap + FAILURE, swap + DENIED + FAILURE):
        assert reasons(text) == ["SwapOn"]
        assert of(text).candidates == ()


def test_an_effect_is_the_second_evidence_of_its_cause() -> None:
    """A stepped clock alone proves nothing; beside a certificate that seems expired it is the cause."""
    clock = "chronyd[6]: System clock wrong by 31536000.1 seconds\n"
    expired = 'Failed to request cluster-info: Get "https://192.0.2.1:6443/": x509: certificate has expired\n'
    assert reasons(clock + CALM) == []
    assert reasons(clock + CALM + expired) == ["ClockWrong"]


def test_a_warning_comes_behind_the_effect_that_is_sure() -> None:
    """With no cause known, what surely happened is first, and what a program warned of is second."""
    warned = (
        'W0101 10:00:00.0 9 a.go:1] error unmarshaling configuration schema.GroupVersionKind{}: unknown field "x"\n'
    )
    assert reasons(warned + "[kubelet-check] The kubelet is not healthy after 4m0s\n") == [
        "KubeletNotHealthy", "KubeadmFieldUnknown",
    ]  # fmt: skip
    assert reasons(warned) == ["KubeadmFieldUnknown"]
