"""Tests of which features a bundle uses, and which of them are outside what a format declares."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from slipway.contract.feature_uses import uses
from slipway.contract.features import MAX_PATHS, compute_features, feature_uses, undeclared, unsupported
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from tests.sdk.contract.messages import messages


@given(bundle=messages(bundlepb.BootstrapBundle))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_list_says_what_is_in_use(bundle: bundlepb.BootstrapBundle) -> None:
    """Sorted ids, each once, with the true count and up to three paths; computing it again changes nothing.

    With all ids declared nothing is wrong; with one of them less, exactly its uses are.
    """
    compute_features(bundle)
    found = list(uses(bundle))
    listed = list(bundle.required_features)
    assert [one.id for one in listed] == sorted({use.id for use in found})
    for one in listed:
        paths = [use.path for use in found if use.id == one.id]
        assert (one.count, list(one.paths)) == (len(paths), paths[:MAX_PATHS])
    assert bundle.features_computed
    before = bundle.SerializeToString(deterministic=True)
    compute_features(bundle)
    assert bundle.SerializeToString(deterministic=True) == before
    _is_supported(bundle)


def _is_supported(bundle: bundlepb.BootstrapBundle) -> None:
    ids = [feature_use.id for feature_use in feature_uses(bundle)]
    everything = [provisionerpb.FeatureSupport(id=id_) for id_ in ids]
    assert unsupported(bundle, everything) == []
    for missing in everything[:3]:
        rest = [one for one in everything if one is not missing]
        wrong = unsupported(bundle, rest)
        assert {one.use.id for one in wrong} == {missing.id}
        assert len(wrong) == next(
            feature_use.count for feature_use in feature_uses(bundle) if feature_use.id == missing.id
        )


def support(**bounds: Any) -> provisionerpb.FeatureSupport:
    """Declare a feature within bounds."""
    return provisionerpb.FeatureSupport(**bounds)


@pytest.mark.parametrize(
    ("reason", "bundle", "declared", "wrong"),
    [
        (
            "a common beginning of two ids means nothing",
            {"os": {"files": [{"append": True}]}},
            [support(id="os.files.append")],
            ["os.files[0]"],
        ),
        (
            "a path below a prefix, or the prefix itself, is inside",
            {"os": {"files": [{"path": "/var"}, {"path": "/var/x"}, {"path": "/variable"}, {"path": "/etc"}]}},
            [support(id="os.files", path_prefixes=["/var/", "/opt"])],
            ["os.files[2]", "os.files[3]"],
        ),
        (
            "a prefix bounds what lies in the item, too",
            {"os": {"files": [{"path": "/etc/x", "append": True}]}},
            [support(id="os.files"), support(id="os.files.append", path_prefixes=["/var"])],
            ["os.files[0].append"],
        ),
        (
            "a path below an excluded prefix, or the prefix itself, is outside",
            {"os": {"files": [{"path": "/run"}, {"path": "/run/x"}, {"path": "/runner"}, {"path": "/etc"}]}},
            [support(id="os.files", excluded_path_prefixes=["/run/"])],
            ["os.files[0]", "os.files[1]"],
        ),
        (
            "what is excluded may lie below what is taken",
            {"os": {"files": [{"path": "/var/x"}, {"path": "/var/run/x"}, {"path": "/etc"}]}},
            [support(id="os.files", path_prefixes=["/var"], excluded_path_prefixes=["/var/run"])],
            ["os.files[1]", "os.files[2]"],
        ),
        (
            "a flag is told by true and false",
            {"os": {"users": [{"lock_password": True}, {"lock_password": False}]}},
            [support(id="os.users"), support(id="os.users.lock_password", allowed_values=["true"])],
            ["os.users[1].lock_password"],
        ),
        (
            "a number by its digits",
            {"os": {"users": [{"uid": 0}, {"uid": 1}]}},
            [support(id="os.users"), support(id="os.users.uid", allowed_values=["0"])],
            ["os.users[1].uid"],
        ),
        (
            "an enum by the name of its value",
            {"intent": {"role": clusterpb.ROLE_INIT}},
            [support(id="kubernetes.role", allowed_values=["ROLE_WORKER"]), support(id="kubernetes.role.init")],
            ["intent.role"],
        ),
        (
            "the name of the value is what is compared",
            {"intent": {"role": clusterpb.ROLE_WORKER}},
            [support(id="kubernetes.role", allowed_values=["ROLE_WORKER"]), support(id="kubernetes.role.worker")],
            [],
        ),
        (
            "only so many",
            {"os": {"swaps": [{}, {}, {}]}},
            [support(id="os.storage.swap", max_items=2)],
            ["os.swaps[2]"],
        ),
        ("none at all", {"os": {"swaps": [{}]}}, [support(id="os.storage.swap", max_items=0)], ["os.swaps[0]"]),
        (
            "only so large",
            {"os": {"users": [{"gecos": "four"}, {"gecos": "fünf"}]}},
            [support(id="os.users"), support(id="os.users.gecos", max_bytes=4)],
            ["os.users[1].gecos"],
        ),
    ],
)
def test_bounds(reason: str, bundle: dict[str, Any], declared: list[Any], wrong: list[str]) -> None:
    """What is outside the bounds of a declaration is as if it were not declared."""
    found = unsupported(bundlepb.BootstrapBundle(**bundle), declared)
    assert [one.use.path for one in found] == wrong, reason
    assert all(one.why.startswith("is ") for one in found)


def test_no_value_is_told() -> None:
    """The reason names bounds, which are the provisioner's, and never what the user wrote."""
    bundle = bundlepb.BootstrapBundle(os=ospb.OperatingSystem(files=[ospb.File(path="/secret-place")]))
    (one,) = unsupported(bundle, [support(id="os.files", path_prefixes=["/var"])])
    assert "secret" not in one.why


def test_features_of_a_younger_contract() -> None:
    """Ids that only the list knows are found by comparing the lists."""
    required = [diagnosticpb.FeatureUse(id="os.files"), diagnosticpb.FeatureUse(id="os.teleport")]
    assert undeclared(required, [support(id="os.files")]) == ["os.teleport"]
