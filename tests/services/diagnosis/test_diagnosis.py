"""Every rule finds its failure and nothing else does; machines that became nodes have no reason."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from slipway.diagnosis.diagnosis import Outcome, diagnose
from slipway.diagnosis.log_files import Log
from slipway.diagnosis.matching import Hit, Matcher, known_matcher
from slipway.diagnosis.rules import RuleSet, checked, known_rules

HERE = Path(__file__).parent
FAILED = "\nJan 01 10:00:09 node-1 systemd[1]: Failed to start kubeadm-join.service - Join the cluster."
WRITTEN: list[dict[str, str]] = yaml.safe_load((HERE / "cases.yaml").read_text(encoding="utf-8"))
WEAK = [case for case in WRITTEN if case.get("weak")]
CASES = [{**case, "log": case["log"] + FAILED} if case in WEAK else case for case in WRITTEN]
FAILED_RUNS = sorted((HERE / "failed").glob("*.log"))
HEALTHY = sorted((HERE / "healthy").glob("*.log"))
JOINED = "\nThis node has joined the cluster:\n"


class Without(Matcher):
    """The shipped rules without one of them."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def hits(self, line: str, path: str = "") -> Iterator[Hit]:
        for hit in known_matcher().hits(line, path):
            if getattr(hit.what, "reason", None) != self.reason:
                yield hit


def reasons(*texts: str, matcher: Matcher | None = None) -> list[str]:
    """Give what is found in logs of one machine."""
    logs = [Log(f"{index}.log", text) for index, text in enumerate(texts)]
    return [finding.rule.reason for finding in diagnose(logs, matcher).findings]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["reason"]))
def test_a_failure_has_its_reason_and_no_other(case: dict[str, str]) -> None:
    """The line alone, and between the lines of a healthy boot, gives exactly the reason."""
    assert reasons(case["log"]) == [case["reason"]]
    assert reasons("[init] Using Kubernetes version: v1.34.2\r\n\x1b[31m" + case["log"] + "\x1b[0m\r\nend\n") == [
        case["reason"]
    ]


@pytest.mark.parametrize("case", WEAK, ids=lambda case: case["reason"])
def test_words_of_many_programs_need_a_failure_behind_them(case: dict[str, str]) -> None:
    """Alone they are what it may be and no answer; beside a sure cause, or before the machine joined, not even that."""
    alone = diagnose([Log("a.log", case["log"])])
    assert (alone.outcome, alone.findings) == (Outcome.UNKNOWN, ())
    assert case["reason"] in [finding.rule.reason for finding in alone.candidates]
    sure = diagnose([Log("a.log", f"{case['log']}{FAILED}\n[ERROR NumCPU]: the number of CPUs is less than 2")])
    assert ([finding.rule.reason for finding in sure.findings], sure.candidates) == (["NotEnoughCpu"], ())
    assert diagnose([Log("a.log", case["log"] + JOINED)]).candidates == ()


def test_every_rule_has_a_case() -> None:
    """No rule stands untested."""
    assert {rule.reason for rule in known_rules().rules} == {case["reason"] for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["reason"]))
def test_without_its_rule_a_failure_is_not_found(case: dict[str, str]) -> None:
    """Each rule is needed: with it removed, its reason is gone."""
    assert case["reason"] not in reasons(case["log"], matcher=Without(case["reason"]))


@pytest.mark.parametrize("path", FAILED_RUNS, ids=lambda path: path.stem)
def test_what_real_programs_printed_when_broken_on_purpose_has_its_reason(path: Path) -> None:
    """The output of kubeadm, kubelet and containerd of 1.34, each run with one thing broken; the name is the reason."""
    assert reasons(path.read_text(encoding="utf-8")) == [path.stem]


@pytest.mark.parametrize("path", HEALTHY, ids=lambda path: path.name)
def test_a_healthy_boot_has_no_reason(path: Path) -> None:
    """What programs print on the way to a healthy node is no reason."""
    assert reasons(path.read_text(encoding="utf-8")) == []


def test_without_the_recovery_the_healthy_boot_would_have_one() -> None:
    """The recoveries are needed, and the lines above them are scary enough to prove it."""
    join = next(path for path in HEALTHY if path.name == "kubeadm-join.log").read_text(encoding="utf-8")
    assert reasons(join.replace("This node has joined", "")) == [
        "EndpointRefused",
        "KubeadmFieldUnknown",
        "ProxyWithoutExceptions",
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["reason"]))
def test_what_a_machine_overcame_is_not_reported(case: dict[str, str]) -> None:
    """A failure before the machine joined is over, in this log and in the others; one after it is not."""
    assert reasons(case["log"] + JOINED) == []
    assert reasons(case["log"], "ok" + JOINED) == []
    rule = next(rule for rule in known_rules().rules if rule.reason == case["reason"])
    assert reasons(JOINED + case["log"]) == ([] if rule.until_joined else [case["reason"]])


def test_the_cause_comes_before_its_effects() -> None:
    """Effects are left out where a cause is known, whichever log comes first."""
    effect = "[kubelet-check] The kubelet is not healthy after 4m0s"
    cause = 'err="failed to run Kubelet: running with swap on is not supported"'
    later = "\t[ERROR FileAvailable--etc-kubernetes-kubelet.conf]: /etc/kubernetes/kubelet.conf already exists"
    assert reasons(effect) == ["KubeletNotHealthy"]
    assert reasons(effect, later, cause) == reasons(cause, effect, later) == ["SwapOn", "MachineNotClean"]


@pytest.mark.parametrize(
    ("text", "expected", "reason"),
    [
        (("chronyd[6]: System clock wrong by 31536000.1 seconds\n"
         'Get "https://192.0.2.1:6443/version": x509: certificate has expired or is not yet valid'),
         ["ClockWrong"], "a wrong clock makes certificates look expired"),
        (('Failed to request cluster-info: Get "https://api:6443/": dial tcp: lookup api on [::1]:53: '
         "read udp [::1]:3->[::1]:53: read: connection refused\n"
         "error execution phase preflight: couldn't validate the identity of the API Server: abort connecting to API "
         "servers after timeout of 5m0s"), ["DnsNotConfigured"], "without DNS servers no endpoint resolves"),
        (('containerd[7]: level=warning msg="failed to load plugin" id=io.containerd.grpc.v1.cri error="bad"\n'
         "[ERROR CRI]: container runtime is not running: unknown service runtime.v1.RuntimeService\n"
         "[kubelet-check] The kubelet is not healthy after 4m0s"), ["CriPluginNotLoaded"],
         "a plugin that did not load explains the service that is unknown"),
        ("E: Could not get lock /var/lib/dpkg/lock-frontend\nE: Sub-process /usr/bin/dpkg returned an error code (1)",
         ["PackageManagerBusy"], "the lock is why the installation failed"),
        (("part of the existing bootstrap client certificate in /etc/kubernetes/kubelet.conf is expired\n"
         "failed to run Kubelet: unable to load bootstrap kubeconfig: stat x: no such file"),
         ["KubeletCertificateExpired"], "the expired certificate is why new credentials are asked for"),
    ],
    ids=lambda value: value.replace(" ", "-") if isinstance(value, str) and value.count(" ") < 12 else "",
)  # fmt: skip
def test_a_cause_explains_what_follows_from_it(text: str, expected: list[str], reason: str) -> None:
    """What another reason explains is not reported beside it, in either order of the lines."""
    assert reasons(text) == expected, reason
    assert reasons("\n".join(reversed(text.splitlines()))) == expected, reason


def test_of_two_causes_the_one_with_lower_precedence_stands_first() -> None:
    """Precedence decides, not the order in the log; with the precedence the other way round so is the answer."""
    text = "[ERROR Port-10250]: Port 10250 is in use\n[ERROR Swap]: running with swap on is not supported\n"
    assert reasons(text) == ["SwapOn", "PortInUse"]
    swapped = {"SwapOn": 40, "PortInUse": 10}
    rules = tuple(
        rule.model_copy(update={"precedence": swapped[rule.reason]})
        for rule in known_rules().rules
        if rule.reason in swapped
    )
    assert reasons(text, matcher=Matcher(RuleSet(recoveries=(), rules=rules))) == ["PortInUse", "SwapOn"]


def test_a_rule_that_names_no_reason_of_ours_is_refused() -> None:
    """Rules of one name, and explanations of what no rule has, are found at load."""
    rule = known_rules().rules[0]
    with pytest.raises(ValueError, match=f"id is there twice: {rule.id}"):
        checked(RuleSet(recoveries=(), rules=(rule, rule)))
    with pytest.raises(ValueError, match="no rule has the reason Elsewhere"):
        checked(RuleSet(recoveries=(), rules=(rule.model_copy(update={"explains": ("Elsewhere",)}),)))


def test_what_was_retried_with_success_is_over() -> None:
    """An attempt that succeeds later settles what failed before, of that kind only."""
    failed = 'ignition[7]: GET error: Get "https://a/x": dial tcp 192.0.2.1:443: connect: connection refused\n'
    assert reasons(failed) == ["IgnitionSourceUnreachable"]
    assert reasons(failed + "ignition[7]: GET result: OK\n") == []
    assert reasons(failed + "[ERROR Swap]: x\nignition[7]: GET result: OK\n") == ["SwapOn"]


def test_nothing_is_guessed() -> None:
    """A log that no rule knows is Unknown, with its last lines that look wrong; one of a node is Joined."""
    text = "".join(f"agent: error {number}: quux\n" for number in range(9)) + "agent: done password=hunter2 failed\n"
    unknown = diagnose([Log("a.log", text)])
    assert (unknown.outcome, unknown.findings) == (Outcome.UNKNOWN, ())
    assert [(suspect.source, suspect.line) for suspect in unknown.suspects] == [("a.log", n) for n in range(6, 11)]
    assert "hunter2" not in unknown.suspects[-1].text
    joined = diagnose([Log("a.log", text + JOINED)])
    assert (joined.outcome, joined.findings, joined.suspects) == (Outcome.JOINED, (), ())


@pytest.mark.parametrize(
    "line",
    [
        "tls: failed: CaHashMismatch: no CA certificate has a pinned hash",
        '{"check":"tls","level":"failed","reason":"CaHashMismatch","message":"no CA certificate has a pinned hash"}',
    ],
)
def test_what_the_agent_checked_is_its_reason(line: str) -> None:
    """The node agent's checks before the join name the same reasons, in both forms of their output."""
    assert reasons(line) == ["CaHashMismatch"]
    assert reasons(line.replace("failed", "warning")) == []


def test_a_line_is_found_behind_a_hostile_log() -> None:
    """A log that is made to fill the automaton's memory hides nothing."""
    hostile = "".join(
        f"{'failed to pull image error execution phase x509: dial tcp lookup ' * 3}{n}\n" for n in range(2000)
    )
    assert reasons(hostile + CASES[0]["log"]) == [CASES[0]["reason"]]
