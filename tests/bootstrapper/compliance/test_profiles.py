"""The profiles that come with Slipway, as data."""

import pytest
from pydantic import ValidationError

from slipway.bootstrapper.compliance.profile import Argument, Control, Kubelet, Profile
from slipway.bootstrapper.compliance.profile_table import find_control, profile_ids, profiles

# Ids of the automated recommendations of the benchmark, version 1.10.0, as kube-bench (cfg/cis-1.10) has them.
AUTOMATED = {
    *(f"1.1.{number}" for number in (*range(1, 9), 11, 12, 13, 14, 15, 16, 17, 18, 19)),
    *(f"1.2.{number}" for number in (2, 4, 5, 6, 7, 8, 10, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22, 23, 24, 25, 26)),
    *(f"1.3.{number}" for number in range(2, 8)),
    *("1.4.1", "1.4.2", "2.1", "2.2", "2.4", "2.5"),
    *(f"4.1.{number}" for number in (1, 2, 5, 6, 9, 10)),
    *("4.2.1", "4.2.2", "4.2.3", "4.2.6", "4.2.10", "4.3.1"),
}


BY_CHOICE = ["1.2.5"]
"""The serving certificates of kubelets need an approver in the cluster: they are checked where a spec sets them."""


def test_every_automated_recommendation_is_checked() -> None:
    """The profile demands something for each that the benchmark calls automated, but for what is listed."""
    controls = {control.id: control for control in profiles()["cis-kubernetes-1.10"].controls}
    assert controls.keys() >= AUTOMATED
    assert all(controls[id_].requires for id_ in AUTOMATED)
    assert [id_ for id_ in AUTOMATED if controls[id_].manual] == BY_CHOICE


# Category I of the STIG, V2R6.
CATEGORY_I = {
    *(f"V-{number}" for number in (242381, 242383, 242387, 242390, 242391, 242392, 242397, 242415, 242434, 242436)),
    *(f"V-{number}" for number in (242437, 245542, 245543, 245544, 254800, 254801, 274882, 274883)),
}


def test_category_one_is_what_the_stig_says() -> None:
    """The profile of category I has its findings, all rated high, and category II has both."""
    profile = profiles()["disa-stig-kubernetes"]
    high = {control.id for control in profile.of_level("cat-1")}
    assert high == CATEGORY_I
    assert {control.severity for control in profile.of_level("cat-1")} == {"high"}
    assert high < {control.id for control in profile.of_level("cat-2")}


def test_a_level_has_what_those_before_it_have() -> None:
    """Level 2 adds to level 1."""
    profile = profiles()["cis-kubernetes-1.10"]
    first, second = ({control.id for control in profile.of_level(level)} for level in profile.levels)
    assert first < second
    assert "5.7.2" in second - first


@pytest.mark.parametrize("profile", profiles().values(), ids=lambda profile: profile.name)
def test_a_profile_names_its_source(profile: Profile) -> None:
    """Document and version are there, and the version of the benchmark is in the name or said to be current."""
    assert profile.document
    assert profile.version
    assert all(f"{profile.name}/{level}" in profile_ids() for level in profile.levels)


@pytest.mark.parametrize("profile", profiles().values(), ids=lambda profile: profile.name)
def test_what_is_set_meets_its_own_demand(profile: Profile) -> None:
    """What a control sets where a spec has nothing passes the check of the same control."""
    for control in profile.controls:
        for demand in control.requires:
            if isinstance(demand, (Argument, Kubelet)) and demand.default is not None:
                value = demand.default
                text = ",".join(value) if isinstance(value, tuple) else str(value)
                assert demand.accepts(text.lower() if isinstance(value, bool) else text), control.id


def test_controls_are_found_by_name() -> None:
    """A name is PROFILE/ID; anything else is not found."""
    control = find_control("cis-kubernetes-1.10/1.2.15")
    assert control is not None
    assert control.title == "The API server serves no profiles of itself"
    assert find_control("cis-kubernetes-1.10/9.9.9") is None
    assert find_control("other/1.2.15") is None


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"id": "1", "title": "x"}, "it demands nothing"),
        (
            {"id": "1", "title": "x", "manual": "why", "requires": [{"plugin": "A"}]},
            "it is for people",
        ),
        ({"id": "1", "title": "x", "requires": [{"files": ["/a"]}]}, "files without a mode"),
        ({"id": "1", "title": "x", "requires": [{"files": ["/a"], "mode": "600", "owner": "a:b"}]}, "two at once"),
        ({"id": "1", "title": "x", "requires": [{"plugin": "A", "typo": 1}]}, "an unknown field"),
    ],
)
def test_mistakes_in_a_control_are_found(fields: dict[str, object], reason: str) -> None:
    """A profile with a mistake in it cannot be loaded."""
    with pytest.raises(ValidationError):
        Control.model_validate(fields)
    assert reason


@pytest.mark.parametrize("controls", [["1", "1"], ["1:level-9"]])
def test_mistakes_in_a_profile_are_found(controls: list[str]) -> None:
    """Two controls of one id, and levels that there are not."""
    made = [
        {"id": name.partition(":")[0], "title": "x", "manual": "y", "level": name.partition(":")[2] or "level-1"}
        for name in controls
    ]
    with pytest.raises(ValidationError):
        Profile.model_validate({"name": "x", "document": "x", "version": "1", "levels": ["level-1"], "controls": made})
