"""The verdict on patches is that of Talos' own loader.

`make talos-types` asks it, built from the Go module of each version, about some thousand patches, each with one thing
changed, and keeps its answers beside this file.
"""

import json
from pathlib import Path

import pytest

from slipway.contract.source_position import path_text
from slipway.contract.strict_decoding import Mistake
from slipway.contract.yaml_limits import Limits
from slipway.provisioners.talos.patch_types import patch_mistakes
from slipway.provisioners.talos.versions import BY_FORMAT
from slipway.provisioners.talos.yaml_text import read_patch
from tools.talos_types.questions import questions

VERDICTS = json.loads(Path(__file__).with_name("verdicts.json").read_text(encoding="utf-8"))


def mistakes_of(patch: str, version: str) -> list[Mistake]:
    """Give the mistakes of a patch."""
    return list(patch_mistakes(read_patch(patch.encode(), Limits()), BY_FORMAT[f"talos/v{version}"]))


def verdicts(version: str) -> dict[str, tuple[bool, bool]]:
    """Give by patch whether it is accepted here, and by Talos."""
    documents, answers = questions(), VERDICTS[version]
    assert len(documents) == len(answers)
    assert {"0", "1"} == set(answers)
    return {
        text: (not any(mistake.certain for mistake in mistakes_of(text, version)), answer == "1")
        for text, answer in zip(documents, answers, strict=True)
    }


@pytest.mark.long
@pytest.mark.parametrize("version", VERDICTS)
def test_the_verdict_is_that_of_talos(version: str) -> None:
    """What Talos loads is accepted; what is accepted and Talos refuses are words and formats of single values.

    The one exception: older versions take an empty mapping for some texts.
    """
    every = verdicts(version)
    refused = [text for text, (ours, theirs) in every.items() if theirs and not ours]
    assert [text for text in refused if "{}" not in text] == []
    accepted = [text for text, (ours, theirs) in every.items() if ours and not theirs]
    assert len(accepted) < len(every) * 0.03


@pytest.mark.parametrize(
    ("patch", "messages"),
    [
        ("machine: {nope: 1}", ["line 1: machine.nope: is no field of Talos 1.13"]),
        (
            "machine:\n  sysctls: [a]\n  install: {disk: [5]}",
            ["line 2: machine.sysctls: must be a mapping", "line 3: machine.install.disk: must be text"],
        ),
        (
            "machine: {kubelet: {extraArg: {}}}",
            ["line 1: machine.kubelet.extraArg: is no field of Talos 1.13; did you mean extraArgs?"],
        ),
        ("a: b\n", ["line 1: kind: is required"]),
        ("kind: HostnameConfig\n", []),
        ("kind: HostnameConfig\nhostname: a\n", ["line 1: apiVersion: is required"]),
        ("apiVersion: v1alpha1\nkind: Nope\nx: y\n", ["line 2: kind: is no kind of Talos 1.13"]),
        ("machine: {files: [{nope: a, $patch: delete}], env: {$patch: delete}}", []),
        ("machine: {time: {bootTimeout: 5}}", ["line 1: machine.time.bootTimeout: must be a duration such as 1m30s"]),
    ],
)
def test_mistakes_have_their_line_and_field(patch: str, messages: list[str]) -> None:
    """And no value of the patch; what the patch deletes needs no type."""
    mistakes = mistakes_of(patch, "1.13")
    assert [mistake.message.replace(": ", f": {path_text(mistake.path)}: ", 1) for mistake in mistakes] == messages
    assert all(mistake.certain for mistake in mistakes)


def test_what_a_version_without_types_may_have_is_uncertain() -> None:
    """Talos 1.9 is older than the types: a field may have been taken out since, a type has not changed."""
    patch = "machine: {nope: 1, sysctls: []}\n---\nkind: X\napiVersion: v1\na: b\n"
    assert [mistake.certain for mistake in mistakes_of(patch, "1.9")] == [False, True, False]
