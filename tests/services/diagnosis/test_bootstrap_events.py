"""Events read out of consoles as machines and clouds really give them."""

import gzip
import json
import random

import pytest
from click.testing import CliRunner

from slipway.cli.command_line import cli
from slipway.diagnosis.bootstrap_events import LONGEST, events_of
from slipway.diagnosis.diagnosis import diagnose
from slipway.diagnosis.log_files import logs_of
from slipway.diagnosis.timeline import Progress, step_runs, timelines
from slipway.diagnosis.timeline_words import notes_of
from tests.services.diagnosis.event_lines import BUNDLE, RUN, line, read, short


def cut(text: str, at: int, between: str) -> str:
    """Give a text with another event in the middle."""
    return text[:at] + between + text[at:]


KERNEL = "[   12.345678] eth0: link up"
CONSOLES = {
    "plain": ("\n".join(RUN), [1, 2, 3, 4]),
    "CRLF": ("\r\n".join(RUN) + "\r\n", [1, 2, 3, 4]),
    "in colour": ("\n".join(f"\x1b[0;32m{text}\x1b[0m" for text in RUN), [1, 2, 3, 4]),
    "behind a time stamp": ("\n".join(f"[   12.000001] cloud-init[9]: {text} tail" for text in RUN), [1, 2, 3, 4]),
    "behind a line without an end": ("login: ".join(RUN), [1, 1, 1, 1]),
    "between other text": ("\n".join(f"noise {{\n{text}\n}} more" for text in RUN), [2, 5, 8, 11]),
    "the kernel writes in the middle": ("\n".join(cut(text, 40, KERNEL + "\r\n") for text in RUN), [1, 3, 5, 7]),
    "the kernel starts a new line": ("\n".join(cut(text, 40, "\r\n" + KERNEL + "\r\n") for text in RUN), [1, 4, 7, 10]),
    "systemd writes in the middle": ("\n".join(cut(text, 30, "[  OK  ] Started x.\r\n") for text in RUN), [1, 3, 5, 7]),
    "wrapped at 80 columns": (
        "\n".join("\r\n".join(text[at : at + 80] for at in range(0, len(text), 80)) for text in RUN), [1, 4, 7, 10],
    ),
    "zero bytes around": ("\0" * 9 + "\n".join(RUN) + "\0" * 9, [1, 2, 3, 4]),
    "wrapped by a cloud": (json.dumps({"Output": "x\r\n" * 900 + "\r\n".join(RUN)}), [1, 1, 1, 1]),
    "with white space": ("\n".join(text.replace(',"', ', "') for text in RUN), [1, 2, 3, 4]),
    "given twice": ("\n".join([*RUN, *RUN]), [1, 2, 3, 4]),
}  # fmt: skip


@pytest.mark.parametrize("name", CONSOLES)
def test_events_are_read_out_of_a_console(name: str) -> None:
    """Number and step of each event, and the line in which it begins; compressed text too."""
    text, numbers = CONSOLES[name]
    steps = ["10-files"] * 2 + ["20-kubeadm"] * 2
    for data in (text.encode(), gzip.compress(text.encode())):
        assert short(read(data)) == list(zip([1, 2, 3, 4], steps, numbers, strict=True))


DAMAGED = {
    "its end is missing": RUN[0][:-1],
    "its beginning is missing": RUN[0][2:],
    "words in the middle": cut(RUN[0], 30, "words"),
    "another event in the middle": cut(RUN[0], 30, RUN[1])[: 30 + len(RUN[1]) - 1],
    "too far apart": cut(RUN[0], 30, "\n[    1.000000] x" * 9 + "\n"),
    "longer than any event": line(1, "STARTED", "a", more="x" * LONGEST),
    "no bundle": line(1, "STARTED", "a", bundleId=""),
    "a bundle id of other characters": line(1, "STARTED", "a", bundleId="../x"),
    "a bundle id that is no text": line(1, "STARTED", "a", bundleId=[1]),
    "no number": line(0, "STARTED", "a"),
    "a number that is too large": line(1, "STARTED", "a", sequence=2**32),
    "a number that is none": line(1, "STARTED", "a", sequence=float("nan")),
    "no time": line(1, "STARTED", "a", time=""),
    "a time that is none": line(1, "STARTED", "a", time="2026-13-02T03:04:05Z"),
    "a time before all": line(1, "STARTED", "a", time="0000-01-02T03:04:05Z"),
    "a time as a number": line(1, "STARTED", "a", time=5),
    "no state": line(1, "UNSPECIFIED", "a"),
    "a state of a later version": line(1, "DREAMING", "a"),
    "a step of other characters": line(1, "STARTED", "a\u202eb"),
    "a phase that is none": line(1, "STARTED", "a", phase=77),
    "a step event without step": line(1, "STARTED"),
    "an end with a step": line(1, "COMPLETE", "a"),
    "a reason with markup": line(1, "FAILED", "a", reason="<script>"),
    "an exit code that is too large": line(1, "FAILED", "a", exitCode=2**31),
    "a list in depth": '{"bundleId":' + "[" * 2000,
    "a list": '{"bundleId":[]}',
    "digits without end": '{"bundleId":' + "9" * 2000 + "}",
}


@pytest.mark.parametrize("name", DAMAGED)
def test_what_is_no_event_is_left_out(name: str) -> None:
    """Damaged and deceiving lines are left out, and do not keep the next event from being read."""
    assert short(read(DAMAGED[name])) in ([], [(2, "10-files", 1)])
    after = read(f"{DAMAGED[name]}\n{RUN[3]}")
    assert [event.message.sequence for event in after][-1:] == [4]


def test_what_a_later_version_adds_is_no_harm() -> None:
    """A member that is not known is left out; an invalid host name is empty."""
    (event,) = read(line(1, "STARTED", "a", later={"a": [1]}, hostname="-bad-"))
    assert (event.message.step, event.message.hostname) == ("a", "")


def test_only_the_events_of_the_right_bundle_count() -> None:
    """An event that another program made up has another bundle id; with the right one given it is not read."""
    forged = line(5, "COMPLETE", bundleId="forged")
    text = "\n".join([forged, *RUN, forged])
    assert {event.message.bundle_id for event in read(text)} == {BUNDLE, "forged"}
    assert short(read(text, bundle_id=BUNDLE)) == short(read("x\n" + "\n".join(RUN)))
    assert read(text, bundle_id="0123") == []
    assert [timeline.bundle_id for timeline in timelines(read(text))] == ["forged", BUNDLE]


def test_the_file_and_the_console_together_give_each_event_once() -> None:
    """What the console has lost stands in the file; the order is that of the numbers."""
    logs = [*logs_of("console", "\n".join([RUN[3], RUN[0]]).encode()), *logs_of("file", "\n".join(RUN).encode())]
    (timeline,) = timelines(events_of(logs))
    assert [event.message.sequence for event in timeline.events] == [1, 2, 3, 4]
    assert [event.source for event in timeline.events] == ["console", "file", "file", "console"]


TIMELINES: dict[str, tuple[list[str], Progress, str, list[str]]] = {
    "failed": (RUN, Progress.FAILED, "20-kubeadm", ["10-files succeeded 1.0", "20-kubeadm failed 1.0"]),
    "complete": (
        [*RUN[:2], line(3, "COMPLETE")], Progress.COMPLETE, "", ["10-files succeeded 1.0", " complete None"],
    ),
    "a step that has not ended": (
        RUN[:3], Progress.UNFINISHED, "", ["10-files succeeded 1.0", "20-kubeadm started None"],
    ),
    "a step whose end was lost": (
        [RUN[0], RUN[2]], Progress.UNFINISHED, "", ["10-files started None", "20-kubeadm started None"],
    ),
    "a step whose start was lost": (RUN[3:], Progress.FAILED, "20-kubeadm", ["20-kubeadm failed None"]),
    "a failure that was tolerated": (
        [line(1, "STARTED", "a"), line(2, "TOLERATED", "a", exitCode=3, reason="CommandFailed"), line(3, "COMPLETE")],
        Progress.COMPLETE, "", ["a tolerated 1.0", " complete None"],
    ),
    "the first failure is the cause": (
        [*RUN, line(5, "FAILED", "90-post", exitCode=2, reason="CommandFailed")],
        Progress.FAILED, "20-kubeadm",
        ["10-files succeeded 1.0", "20-kubeadm failed 1.0", "90-post failed None"],
    ),
    "the next boot succeeds": (
        [*RUN, line(5, "STARTED", "20-kubeadm"), line(6, "SUCCEEDED", "20-kubeadm")],
        Progress.UNFINISHED, "",
        ["10-files succeeded 1.0", "20-kubeadm failed 1.0", "20-kubeadm succeeded 1.0"],
    ),
    "a failure behind the sentinel": (
        [line(1, "COMPLETE"), line(2, "FAILED", "z", exitCode=3, reason="CommandFailed")],
        Progress.FAILED, "z", [" complete None", "z failed None"],
    ),
    "several tries": (
        [line(1, "STARTED", "a"), line(2, "RETRYING", "a", exitCode=1), line(9, "SUCCEEDED", "a")],
        Progress.UNFINISHED, "", ["a succeeded 8.0"],
    ),
    "a clock that is set back": (
        [line(1, "STARTED", "a"), line(2, "SUCCEEDED", "a", time="2020-01-01T00:00:00Z")],
        Progress.UNFINISHED, "", ["a succeeded None"],
    ),
    "a file that could not be written": (
        [line(1, "STARTED", "a"), line(1, "SUCCEEDED", "a"), line(1, "STARTED", "b")],
        Progress.UNFINISHED, "", ["a succeeded 0.0", "b started None"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TIMELINES)
def test_how_far_a_bootstrap_came(name: str) -> None:
    """Progress, the failing step, and each run of a step with its duration; lines in any order give the same."""
    events, progress, failing, runs = TIMELINES[name]
    shuffled = random.Random(1).sample(events, len(events)) if name != "a file that could not be written" else events
    for text in (events, shuffled):
        (timeline,) = timelines(read("\r\n".join(text)))
        assert timeline.progress == progress
        assert (timeline.failing.message.step if timeline.failing else "") == failing
        assert [f"{run.step} {run.state} {run.seconds}" for run in step_runs(timeline)] == runs


def test_diagnose_prints_the_timeline_and_the_failing_step() -> None:
    """The reason, the timeline with its failing step, and the same for programs."""
    text = "\r\n".join([KERNEL, *RUN, line(9, "COMPLETE", bundleId="forged")])
    shown = CliRunner().invoke(cli, ["diagnose", "--bundle-id", BUNDLE, "-"], input=text)
    assert shown.exit_code == 0, shown.output
    assert shown.output.splitlines()[-3:] == [
        f"Bootstrap {BUNDLE} of node-1: failed in step 20-kubeadm: CommandFailed, exit code 1",
        "  2026-01-02 03:04:01Z  bootstrap  10-files    succeeded     1 s",
        "  2026-01-02 03:04:03Z  bootstrap  20-kubeadm  failed        1 s  exit code 1, CommandFailed",
    ]
    shown = CliRunner().invoke(cli, ["diagnose", "-o", "json", "--bundle-id", BUNDLE, "-"], input=text)
    tree = json.loads(shown.output)
    (bootstrap,) = tree["bootstraps"]
    assert (bootstrap["progress"], bootstrap["hostname"]) == ("Failed", "node-1")
    assert bootstrap["failing"] == {**json.loads(RUN[3]), "source": "stdin", "line": 5}
    assert [event["sequence"] for event in bootstrap["events"]] == [1, 2, 3, 4]


def test_a_log_without_events_has_no_timeline() -> None:
    """Nothing is printed of events where there are none."""
    shown = CliRunner().invoke(cli, ["diagnose", "-"], input="no event\n")
    assert "Bootstrap" not in shown.output


def test_a_failed_step_is_a_reason_until_the_bootstrap_is_complete() -> None:
    """The event of a failure names the reason StepFailed; success on a later boot takes it back."""
    assert [finding.rule.reason for finding in diagnose(logs_of("a", RUN[3].encode())).findings] == ["StepFailed"]
    over = "\n".join([RUN[3], line(7, "COMPLETE")])
    assert not diagnose(logs_of("a", over.encode())).findings


STATUS = line(4, "OBSERVED", "20-kubeadm", reason="ContainerRuntimeNotRunning")
KUBELET = line(5, "OBSERVED", "20-kubeadm", reason="KubeletNotHealthy")


def test_what_was_observed_stands_behind_its_step() -> None:
    """It has a line of its own, ends no run of a step and takes no time; the failure stays the failure."""
    (timeline,) = timelines(read("\n".join([*RUN[:3], STATUS, line(6, "FAILED", "20-kubeadm", exitCode=1)])))
    assert [(run.step, run.state, run.seconds, notes_of(run)) for run in step_runs(timeline)] == [
        ("10-files", "succeeded", 1.0, ""),
        ("20-kubeadm", "failed", 3.0, "exit code 1"),
        ("20-kubeadm", "observed", None, "ContainerRuntimeNotRunning"),
    ]
    assert timeline.progress == Progress.FAILED
    good = line(5, "OBSERVED", "20-kubeadm", reason="KubeletHealthy")
    (timeline,) = timelines(read("\n".join([*RUN[:3], line(4, "SUCCEEDED", "20-kubeadm"), good, line(6, "COMPLETE")])))
    assert [run.state for run in step_runs(timeline)] == ["succeeded", "succeeded", "observed", "complete"]
    assert timeline.progress == Progress.COMPLETE


def test_what_was_observed_is_evidence_before_a_failure_only() -> None:
    """Of nothing but events the runtime is the reason; a bootstrap that is complete has none."""

    def reasons(*lines: str) -> list[str]:
        return [finding.rule.reason for finding in diagnose(logs_of("console", "\n".join(lines).encode())).findings]

    failed = line(6, "FAILED", "20-kubeadm", exitCode=1, reason="CommandFailed")
    assert reasons(*RUN[:3], STATUS, KUBELET, failed) == ["ContainerRuntimeNotRunning"]
    assert reasons(*RUN[:3], KUBELET, failed) == ["StepFailed", "KubeletNotHealthy"]
    assert reasons(*RUN[:3], line(4, "SUCCEEDED", "20-kubeadm"), STATUS, KUBELET, line(6, "COMPLETE")) == []
    early = STATUS.replace("PHASE_BOOTSTRAP", "PHASE_PRE")
    assert reasons(*RUN[:3], early, failed) == ["StepFailed"]
