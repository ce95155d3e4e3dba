"""Every rule finds its failure and nothing else does; machines that became nodes have no reason."""

from pathlib import Path

import pytest
import yaml

from slipway.diagnosis.diagnosis import diagnose
from slipway.diagnosis.log_files import Log
from slipway.diagnosis.matching import Matcher
from slipway.diagnosis.rules import RuleSet, known_rules

HERE = Path(__file__).parent
CASES = yaml.safe_load((HERE / "cases.yaml").read_text(encoding="utf-8"))
HEALTHY = sorted((HERE / "healthy").glob("*.log"))
JOINED = "\nThis node has joined the cluster:\n"


def reasons(*texts: str, matcher: Matcher | None = None) -> list[str]:
    """Give what is found in logs of one machine."""
    logs = [Log(f"{index}.log", text) for index, text in enumerate(texts)]
    return [one.rule.reason for one in diagnose(logs, matcher)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["reason"]))
def test_a_failure_has_its_reason_and_no_other(case: dict[str, str]) -> None:
    """The line alone, and between the lines of a healthy boot, gives exactly the reason."""
    assert reasons(case["log"]) == [case["reason"]]
    assert reasons("[init] Using Kubernetes version: v1.34.2\r\n\x1b[31m" + case["log"] + "\x1b[0m\r\nend\n") == [
        case["reason"]
    ]


def test_every_rule_has_a_case() -> None:
    """No rule stands untested."""
    assert {rule.reason for rule in known_rules().rules} == {case["reason"] for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["reason"]))
def test_without_its_rule_a_failure_is_not_found(case: dict[str, str]) -> None:
    """Each rule is needed: with it removed, its reason is gone."""
    known = known_rules()
    rules = tuple(rule for rule in known.rules if rule.reason != case["reason"])
    assert case["reason"] not in reasons(
        case["log"], matcher=Matcher(RuleSet(recoveries=known.recoveries, rules=rules))
    )


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
def test_what_a_machine_overcame_is_not_told(case: dict[str, str]) -> None:
    """A failure before the machine joined is over, in this log and in the others; one after it is not."""
    assert reasons(case["log"] + JOINED) == []
    assert reasons(case["log"], "ok" + JOINED) == []
    assert reasons(JOINED + case["log"]) == [case["reason"]]


def test_the_cause_comes_before_its_effects() -> None:
    """Effects are left out where a cause is known, whichever log comes first."""
    effect = "[kubelet-check] The kubelet is not healthy after 4m0s"
    cause = 'err="failed to run Kubelet: running with swap on is not supported"'
    later = "\t[ERROR FileAvailable--etc-kubernetes-kubelet.conf]: /etc/kubernetes/kubelet.conf already exists"
    assert reasons(effect) == ["KubeletNotHealthy"]
    assert reasons(effect, later, cause) == reasons(cause, effect, later) == ["SwapOn", "MachineNotClean"]


def test_a_line_is_found_behind_a_hostile_log() -> None:
    """A log that is made to fill the automaton's memory hides nothing."""
    hostile = "".join(
        f"{'failed to pull image error execution phase x509: dial tcp lookup ' * 3}{n}\n" for n in range(2000)
    )
    assert reasons(hostile + CASES[0]["log"]) == [CASES[0]["reason"]]
