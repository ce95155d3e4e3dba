"""Tests of changes to the service that bootstraps the machine: the entry point's, or nobody's."""

import pytest

from slipway.v1alpha1 import os_pb2 as ospb
from tests.bootstrapper.lowering.lowered_systems import LEAST, LowerSystem

AS_A_SERVICE = (*LEAST, "plan.entrypoint.drop_ins", "os.systemd.units", "os.systemd.units.drop_ins")
DROP_IN = ospb.SystemdDropIn(name="10-metadata.conf", contents="[Unit]\nRequires=agent.service\n")


def unit(**fields: object) -> ospb.OperatingSystem:
    """Make a system that changes the entry point's unit."""
    return ospb.OperatingSystem(systemd_units=[ospb.SystemdUnit(name="slipway-bootstrap.service", **fields)])


def test_drop_ins_become_the_entry_points(lower: LowerSystem) -> None:
    """A target that runs it as a service gets them in one piece with it, and no second unit of the name."""
    done = lower(unit(enabled=True, drop_ins=[DROP_IN]), declares=AS_A_SERVICE)
    assert done.refusals == []
    assert list(done.draft.bundle.plan.entrypoint.drop_ins) == [DROP_IN]
    assert not done.draft.bundle.os.systemd_units
    assert [(one.feature, list(one.into)) for one in done.draft.lowered] == [("os.systemd.units", ["plan.entrypoint"])]


def test_enabling_it_is_no_wish(lower: LowerSystem) -> None:
    """The entry point is started anyway."""
    done = lower(unit(enabled=True))
    assert done.refusals == []
    assert done.prepared == []


REFUSED = [
    (LEAST, {"drop_ins": [DROP_IN]}, "nothing runs it as a service"),
    (AS_A_SERVICE, {"contents": "[Service]\n"}, "it is not the user's to write"),
    (AS_A_SERVICE, {"masked": True}, "nothing would bootstrap the machine"),
    (AS_A_SERVICE, {"enabled": False, "drop_ins": [DROP_IN]}, "nothing would bootstrap the machine"),
]


@pytest.mark.parametrize(("declares", "fields", "reason"), REFUSED)
def test_refused(lower: LowerSystem, declares: tuple[str, ...], fields: dict[str, object], reason: str) -> None:
    """What cannot be honoured names its place and a remedy, and leaves no unit behind."""
    done = lower(unit(**fields), declares=declares)
    (refusal,) = done.result.refusals
    assert refusal.feature == "os.systemd.units", reason
    assert refusal.origin.path == "spec.os.systemd_units[0]", reason
    assert refusal.remedy, reason
    assert not done.draft.bundle.os.systemd_units
