"""The profiles that come with Slipway, and the look-up of what a spec names."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import yaml

from slipway.bootstrapper.compliance.profile import Control, Profile

_FOLDER = "profiles"


@cache
def profiles() -> Mapping[str, Profile]:
    """Give all profiles by name."""
    folder = files(__package__).joinpath(_FOLDER)
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".yaml"))
    loaded = [Profile.model_validate(yaml.safe_load(folder.joinpath(name).read_text("utf-8"))) for name in names]
    return {profile.name: profile for profile in loaded}


@cache
def profile_ids() -> tuple[str, ...]:
    """Give what a spec can ask for: each profile with each of its levels."""
    return tuple(f"{name}/{level}" for name, profile in profiles().items() for level in profile.levels)


def find_control(name: str) -> Control | None:
    """Give the control that "PROFILE/ID" names; None if it is not known."""
    profile, _, id_ = name.partition("/")
    known = profiles().get(profile)
    return next((control for control in known.controls if control.id == id_), None) if known else None
