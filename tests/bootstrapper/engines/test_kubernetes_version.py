"""Kubernetes versions: parsing, the kubeadm API they choose, and skew."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.bootstrapper.engines.kubeadm.kubeadm_api import KubeadmApi, kubeadm_api
from slipway.bootstrapper.engines.kubernetes_version import (
    KubernetesVersion,
    KubernetesVersionError,
    Skew,
    node_skew,
    parse_kubernetes_version,
)

NUMBERS = st.integers(min_value=0, max_value=999_999_999)
PRE_RELEASES = st.sampled_from(["", "alpha.0", "alpha.0.734", "beta.1", "rc.0", "x-y.7z"])
BUILDS = st.sampled_from(["", "ba502ee555924a", "vmware.1", "k3s1", "rke2r1.2"])


@given(st.builds(KubernetesVersion, NUMBERS, NUMBERS, NUMBERS, PRE_RELEASES, BUILDS), st.sampled_from("v-"))
def test_parse_gives_back_what_was_printed(version: KubernetesVersion, prefix: str) -> None:
    """Every version survives printing and parsing, with and without the leading v."""
    text = str(version)
    assert parse_kubernetes_version(text if prefix == "v" else text[1:]) == version


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("v1.31", "no patch"),
        ("1", "only a major"),
        ("v1.031.0", "leading zero"),
        ("v1.31.0-", "empty pre-release"),
        ("v1.31.0-01", "numeric pre-release with leading zero"),
        ("v1.31.0+", "empty build"),
        ("v1.31.0\n", "trailing newline"),
        (" v1.31.0", "leading space"),
        ("V1.31.0", "capital v"),
        ("v1.31.0-a" + "a" * 300, "longer than any real version"),
        ("v1.٣١.0", "digits of another script"),
    ],
)
def test_what_is_no_version_is_refused_without_repeating_it(text: str, reason: str) -> None:
    """A text that is no semantic version raises, and the message does not hold it."""
    with pytest.raises(KubernetesVersionError) as caught:
        parse_kubernetes_version(text)
    assert len(text) < len("v1.031.0") or text not in str(caught.value), reason


@pytest.mark.parametrize(
    ("text", "api", "reason"),
    [
        ("1.22.0-alpha.0.734+ba502ee555924a", KubeadmApi.V1BETA3, "pre-release counts as its release"),
        ("v1.22.0", KubeadmApi.V1BETA3, "first with v1beta3"),
        ("v1.30.99", KubeadmApi.V1BETA3, "last with v1beta3"),
        ("v1.31.0-alpha.1", KubeadmApi.V1BETA4, "pre-release counts as its release"),
        ("v1.31.0", KubeadmApi.V1BETA4, "first with v1beta4"),
        ("v99.99.99", KubeadmApi.V1BETA4, "the future keeps the newest API"),
    ],
)
def test_the_api_follows_the_version(text: str, api: KubeadmApi, reason: str) -> None:
    """1.22 to 1.30 speak v1beta3, everything later v1beta4."""
    assert kubeadm_api(parse_kubernetes_version(text)) is api, reason


def test_versions_before_1_22_are_refused() -> None:
    """Kubeadm APIs before v1beta3 are not written."""
    with pytest.raises(KubernetesVersionError):
        kubeadm_api(parse_kubernetes_version("v1.21.14"))


@pytest.mark.parametrize(
    ("control_plane", "node", "skew", "reason"),
    [
        ("v1.31.2", "v1.31.9", Skew.NONE, "patches do not count"),
        ("v1.31.0", "v1.30.0", Skew.SUPPORTED, "one older"),
        ("v1.31.0", "v1.28.0", Skew.SUPPORTED, "three older since 1.28"),
        ("v1.31.0", "v1.27.0", Skew.NODE_TOO_OLD, "four older"),
        ("v1.27.0", "v1.25.0", Skew.SUPPORTED, "two older before 1.28"),
        ("v1.27.0", "v1.24.0", Skew.NODE_TOO_OLD, "three older before 1.28"),
        ("v1.30.0", "v1.31.0-rc.0", Skew.NODE_NEWER, "a pre-release of a newer series"),
        ("v2.1.0", "v1.99.0", Skew.NODE_TOO_OLD, "another major"),
    ],
)
def test_skew_follows_the_policy(control_plane: str, node: str, skew: Skew, reason: str) -> None:
    """A node is never newer than its control plane and only so many minors older."""
    found = node_skew(control_plane=parse_kubernetes_version(control_plane), node=parse_kubernetes_version(node))
    assert found is skew, reason
