"""The image's own user, which cloud-init makes and Ignition does not: nothing else differs by it.

The list of allowed differences names that user, its home, its memberships and its rule for sudo. Ignition leaves alone
what its image has; the image here has no user such as the "core" of Flatcar.
"""

from collections.abc import Callable

import pytest

from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.oracles import ours, sameness
from tests.oracles.booted import NATIVE
from tests.oracles.filling import linux
from tests.oracles.test_generated import ROOT, boot_both, differences
from tools.oracles.machine_state import MachineState

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]

_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDm0t1sCzYt8Wn2o7f4dJ1c2Jr3g9m2jv4b7x0yqg3mB ann"


def machines(user: ospb.User, group: ospb.Group) -> tuple[MachineState, MachineState]:
    """A worker with a user and a group, by cloud-init and by Ignition."""
    whole = NATIVE["harbour-worker"]
    question = MachineQuestion(type(whole.subject)(), secretpb.SecretMaterial(), [])
    question.subject.CopyFrom(whole.subject)
    question.subject.spec.target.CopyFrom(linux().subject.spec.target)
    question.subject.spec.os.users.append(user)
    question.subject.spec.os.groups.append(group)
    return boot_both(*(ours.render(question, name).user_data for name in ("cloud-init", "ignition")))


def test_numbers_that_the_spec_gives_are_those_of_both(engine: Callable[..., None]) -> None:
    """Nothing differs but what the list names: the image's user alone is on one side, and in groups of its own."""
    engine(f"root-{ROOT}", "ignition")
    user = ospb.User(name="ann", uid=1100, groups=["team", "sudo"], ssh_authorized_keys=[_KEY])
    left, right = machines(user, ospb.Group(name="team", gid=4242))
    assert sameness.problems(left, right, allowed=differences()) == []
    assert [state.users["ann"].uid for state in (left, right)] == [1100, 1100]
    assert [state.group_ids["team"] for state in (left, right)] == [4242, 4242]
    assert ("debian" in left.users, right.users.keys()) == (True, {"ann"})


def test_numbers_that_nobody_gave_are_the_same_too(engine: Callable[..., None]) -> None:
    """The image's user takes none of them: cloud-init makes it after the spec's own."""
    engine(f"root-{ROOT}", "ignition")
    left, right = machines(ospb.User(name="ann", groups=["team"]), ospb.Group(name="team"))
    assert sameness.problems(left, right, allowed=differences()) == []
    assert [state.users["ann"].uid for state in (left, right)] == [1000, 1000]
