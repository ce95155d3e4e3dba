"""Logs in the forms that machines and clouds give them: lines of JSON, export, consoles, UTF-16."""

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from slipway.cli.command_line import cli
from slipway.diagnosis.diagnosis import diagnose
from slipway.diagnosis.log_files import logs_of
from slipway.diagnosis.log_text import identifier, lines

SWAP = "[ERROR Swap]: running with swap on is not supported"


@pytest.mark.parametrize(
    ("data", "line", "reason"),
    [
        (json.dumps({"SYSLOG_IDENTIFIER": "cloud-init", "MESSAGE": f"\t{SWAP}"}).encode(), 1, "journalctl -o json"),
        (json.dumps({"MESSAGE": list(f"{SWAP} \xe9".encode("latin-1"))}).encode(), 1, "a message that is not UTF-8"),
        (json.dumps({"MESSAGE": f"first\n{SWAP}\nlast"}).encode(), 1, "several lines in a message"),
        (f"__REALTIME_TIMESTAMP=1\nMESSAGE={SWAP}\n\n".encode(), 2, "journalctl -o export"),
        (json.dumps({"log": SWAP + "\n", "stream": "stderr"}).encode(), 1, "a container's log"),
        (json.dumps({"Output": "x\r\n" * 900 + SWAP}).encode(), 1, "console output of a cloud"),
        (json.dumps({"InstanceId": "i", "Output": "x\r\n" * 900 + SWAP}, indent=1).encode(), 3, "the same, indented"),
        (SWAP.encode("utf-16-le"), 1, "UTF-16 without a mark"),
        (f"[  1.0] a: b\r\n[  2.0] cloud-init[9]: \x1b[1;31m{SWAP}\x1b[0m\r\n".encode(), 2, "a serial console"),
        (b"\x00\xff\xfe\x80garbage\n" + f"50%\r100%\r{SWAP}".encode() + b"\n\x80", 2, "a bar of progress, and noise"),
        (f'{{ no json MESSAGE\n{SWAP}\n{{"MESSAGE": '.encode(), 2, "records that were cut"),
    ],
    ids=lambda value: value.replace(" ", "-") if isinstance(value, str) else "",
)
def test_a_line_is_found_in_every_form(data: bytes, line: int, reason: str) -> None:
    """The reason, and the number that an editor shows for the line."""
    for content in (data, gzip.compress(data)):
        assert [(finding.rule.reason, finding.line) for finding in diagnose(logs_of("a", content)).findings] == [
            ("SwapOn", line)
        ], reason


def test_a_record_keeps_the_name_of_its_program() -> None:
    """Rules for units see who wrote a record."""
    assert [identifier(line) for _, line in lines('{"SYSLOG_IDENTIFIER": "kubelet", "MESSAGE": "a\\nb"}')] == [
        "kubelet"
    ] * 2


def test_the_name_of_a_program_is_cut() -> None:
    """It stands in front of each line of a message: a record of 60 kB must not become one of 500 MB."""
    record = json.dumps({"SYSLOG_IDENTIFIER": "k" * 30_000, "MESSAGE": "a\n" * 15_000})
    assert sum(len(line) for _, line in lines(record)) < 80 * 15_001


def test_a_long_line_is_read_in_parts() -> None:
    """A line of megabytes costs no more memory than its parts, and what is at its end counts."""
    parts = list(lines("x" * 1_000_000 + SWAP))
    assert max(len(part) for _, part in parts) <= 64 << 10
    assert {number for number, _ in parts} == {1}


def test_machines_can_be_separate(tmp_path: Path) -> None:
    """With --separate each file has an outcome of its own; without, one log settles the other."""
    texts = {"a.log": SWAP, "b.log": "This node has joined the cluster", "c.log": "error: quux"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text + "\n")
    paths = [str(tmp_path / name) for name in texts]
    together = json.loads(CliRunner().invoke(cli, ["diagnose", *paths[:2], "-o", "json"]).stdout)
    assert (together["outcome"], together["findings"], together["logs"]) == ("Joined", [], 2)
    machines = json.loads(CliRunner().invoke(cli, ["diagnose", "--separate", *paths, "-o", "json"]).stdout)["machines"]
    assert [(machine["machine"], machine["outcome"]) for machine in machines] == [
        ("a.log", "Diagnosed"), ("b.log", "Joined"), ("c.log", "Unknown"),
    ]  # fmt: skip
    assert machines[2]["suspects"] == [{"source": "c.log", "line": 1, "text": "error: quux"}]
    shown = CliRunner().invoke(cli, ["diagnose", "--separate", *paths]).stdout
    assert shown.index("a.log") < shown.index("SwapOn") < shown.index("Joined: ") < shown.index("c.log:1: error: quux")
