"""Strategic merge, by the rules that Talos' own patcher has."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.provisioners.talos.patch import apply_patch
from slipway.provisioners.talos.yaml_text import read_patch
from tests.provisioners.talos.patches import PATCHES

BASE = [
    {
        "version": "v1alpha1",
        "machine": {"type": "worker", "files": [{"path": "/var/a"}, {"path": "/var/b"}], "on": True},
        "cluster": {"network": {"podSubnets": ["10.0.0.0/8"]}, "apiServer": {"certSANs": ["a"]}},
    },
    {"apiVersion": "v1alpha1", "kind": "RegistryMirrorConfig", "name": "a", "endpoints": [{"url": "x"}]},
]


@pytest.mark.parametrize(
    ("patch", "where", "expected", "reason"),
    [
        ("machine: {type: init}", (0, "machine", "type"), "init", "a text replaces a text"),
        ("machine: {type: ''}", (0, "machine", "type"), "worker", "an empty text says nothing"),
        ("machine: {on: false}", (0, "machine", "on"), False, "false is a value"),
        ("machine: {on: null}", (0, "machine", "on"), True, "null says nothing"),
        ("cluster: {apiServer: {certSANs: [b]}}", (0, "cluster", "apiServer", "certSANs"), ["a", "b"], "lists grow"),
        (
            "cluster: {network: {podSubnets: [b]}}",
            (0, "cluster", "network", "podSubnets"),
            ["b"],
            "subnets are replaced",
        ),
        ("machine: {files: [{path: /var/a, $patch: delete}]}", (0, "machine", "files"), [{"path": "/var/b"}], "delete"),
        ("kind: X\napiVersion: v1", (2, "kind"), "X", "a new document is added"),
        (
            "kind: RegistryMirrorConfig\napiVersion: v1alpha1\nname: a\nendpoints: [{url: y}]",
            (1, "endpoints"),
            [{"url": "x"}, {"url": "y"}],
            "a document of the same kind and name is merged",
        ),
        (
            "kind: RegistryMirrorConfig\napiVersion: v1alpha1\nname: b",
            (2, "name"),
            "b",
            "another name is another document",
        ),
    ],
)
def test_merging(patch, where, expected, reason):
    """Each rule of Talos' merge, on the smallest example."""
    value = apply_patch(BASE, read_patch(patch.encode()))
    for part in where:
        value = value[part]
    assert value == expected, reason


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        ("[{op: add, path: /machine, value: secret-value}]", "operations of JSON patch"),
        ("machine: {files: secret-value}", "a text in place of a list"),
        ("machine: [secret-value]", "a list in place of a mapping"),
        ("machine: {files: [{path: secret-value, $patch: delete}]}", "an entry that is not there"),
    ],
)
def test_a_patch_that_does_not_fit_is_refused(patch, reason):
    """It must not reach the machine, and its values must not reach the message."""
    with pytest.raises(ValueError, match=r".") as caught:
        apply_patch(BASE, read_patch(patch.encode()))
    assert "secret-value" not in str(caught.value), reason


@given(st.sampled_from(sorted(PATCHES.values())))
def test_patching_changes_only_the_result(patch):
    """Documents are shared between renders: a patch must leave its inputs as they are."""
    tree, before = read_patch(patch.encode()), repr(BASE)
    with contextlib.suppress(ValueError):
        apply_patch(BASE, tree)
    assert repr(BASE) == before
