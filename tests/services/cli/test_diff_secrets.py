"""What `slipway diff` tells of secrets: that their values changed, never what they are."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.services.cli.conftest import Slipway

SPEC = """\
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayCluster
metadata: {name: d}
spec:
  cluster: {kubernetesVersion: v1.34.2, endpoint: {host: api.example.com}}
  machines: [{name: w, role: Init, config: c}]
---
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayConfig
metadata: {name: c}
spec:
  provisioner: {name: cloud-init}
  os:
    files:
      - {path: /etc/tok, content: {secretRef: {name: agent, key: token}}}
    users:
      - {name: ops, passwordHash: {value: "$6$salt$AAAA"}}
      - {name: two, passwordHash: {secretRef: {name: agent, key: hash}}}
  init:
    engineOptions:
      kubeadm:
        bootstrapTokens: [{token: {value: aaaaaa.aaaaaaaaaaaaaaaa}}]
"""
SECRET = """\
---
apiVersion: v1
kind: Secret
metadata: {name: agent}
stringData: {token: tokenAAAA, hash: "$6$salt$CCCC"}
"""
CHANGES = [
    ("$6$salt$AAAA", "$6$salt$BBBB", "os.users ops", "passwordHash", "a hash in place, of the same length"),
    ("tokenAAAA", "tokenBBBB", "os.files /etc/tok", "content", "a file's content in a Secret"),
    ("$6$salt$CCCC", "$6$salt$DDDD", "os.users two", "passwordHash", "a hash in a Secret"),
    ("aaaaaa.a", "aaaaaa.b", "engine_options.kubeadm", "bootstrapTokens", "a bootstrap token"),
]


@pytest.mark.parametrize(("old", "new", "what", "field", "reason"), CHANGES, ids=[row[-1] for row in CHANGES])
def test_a_changed_secret_is_told_and_never_shown(  # noqa: PLR0913, PLR0917  # a row
    slipway: Slipway, write: Callable[..., Path], old: str, new: str, what: str, field: str, reason: str
) -> None:
    """Exit code 1, the item and its field; neither value nor anything made of it is printed."""
    before, after = write(SPEC + SECRET, "a.yaml"), write((SPEC + SECRET).replace(old, new), "b.yaml")
    result = slipway("diff", before, after, "--exit-code", "-o", "json")
    assert json.loads(result.stdout) == [
        {"machine": "w", "change": "changed (secret)", "what": what, "fields": [field]}
    ], reason
    assert result.exit_code == 1
    assert "AAAA" not in result.output
    assert slipway("diff", before, before, "--exit-code").stdout == "nothing changes\n"


def test_more_than_a_secret_is_a_plain_change(slipway: Slipway, write: Callable[..., Path]) -> None:
    """An item that also differs in the open is "changed", with all its fields."""
    after = SPEC.replace('ops, passwordHash: {value: "$6$salt$AAAA"', 'ops, shell: /bin/sh, passwordHash: {value: "!"')
    result = slipway("diff", write(SPEC, "a.yaml"), write(after, "b.yaml"), "-o", "json")
    (change,) = json.loads(result.stdout)
    assert (change["change"], change["fields"]) == ("changed", ["passwordHash", "shell"])


def test_a_user_that_comes_first_changes_nobody_else(slipway: Slipway, write: Callable[..., Path]) -> None:
    """Secrets are compared by their values, not by their order in the spec."""
    after = SPEC.replace("    users:\n", '    users:\n      - {name: new, passwordHash: {value: "$6$salt$EEEE"}}\n')
    result = slipway("diff", write(SPEC, "a.yaml"), write(after, "b.yaml"), "-o", "json")
    assert [(one["change"], one["what"]) for one in json.loads(result.stdout)] == [("added", "os.users new")]


def test_a_secret_that_one_file_lacks_is_compared_by_its_name(slipway: Slipway, write: Callable[..., Path]) -> None:
    """It is no change, and a warning says that the value was not compared; nor is a dummy taken for a value."""
    with_secret, without = write(SPEC + SECRET, "a.yaml"), write(SPEC, "b.yaml")
    for options in [(), ("--set-missing",)]:
        result = slipway("diff", with_secret, without, "--exit-code", *options)
        assert (result.exit_code, result.stdout) == (0, "nothing changes\n"), options
        assert "key token of secret agent is in one of the two files only" in result.stderr
    assert "warning" not in slipway("diff", without, without).stderr
    other = write(SPEC.replace("key: token", "key: other"), "c.yaml")
    assert slipway("diff", with_secret, other, "--exit-code").exit_code == 1


@pytest.mark.parametrize("second", [False, True], ids=["before", "after"])
def test_an_invalid_machine_is_told_with_its_place(slipway: Slipway, write: Callable[..., Path], second: bool) -> None:
    """File, line, column and field of the document, as validate has them, whichever file it is."""
    good = write(SPEC, "good.yaml")
    bad = write(
        SPEC.replace("endpoint:", "podCidrs: [10.0.0.0/16], serviceCidrs: [10.0.0.0/16], endpoint:"), "bad.yaml"
    )
    result = slipway("diff", *((good, bad) if second else (bad, good)), "--exit-code")
    assert (result.exit_code, result.stdout) == (1, "")
    assert set(result.stderr.splitlines()) <= set(slipway("validate", bad).stderr.splitlines())
    assert f"invalid: {bad}:5:" in result.stderr
    assert "SlipwayCluster/d: spec.cluster.serviceCidrs[0]: " in result.stderr
