"""Each fault breaks the one rule that it is named after, and leaves the rest of the answer sound."""

import hashlib
from datetime import UTC, datetime

import pytest

from slipway.contract.errors import UnsupportedFeature
from slipway.fake_provisioner import faults
from slipway.fake_provisioner.script import Fault, Script, Step
from slipway.fake_provisioner.sound import Sound
from slipway.sdk import ProvisionerCore, testing
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SOUND = Sound(Script(features=("os.files", "os.links", "plan.entrypoint")))


def bundle() -> bundlepb.BootstrapBundle:
    """A file and two links."""
    links = [ospb.Link(path=f"/l{number}", target="x", owner="root", group="root") for number in (1, 2)]
    return testing.bundle(ospb.OperatingSystem(files=[testing.file("/f", b"x")], links=links))


def answer() -> provisionerpb.RenderResponse:
    """What it answers when nothing goes wrong."""
    return ProvisionerCore(SOUND).render_now(testing.request(SOUND, bundle()))


def spoilt(fault: Fault, **options: object) -> provisionerpb.RenderResponse:
    """What it answers with a fault."""
    return faults.spoil(answer(), Step.model_validate({"fault": fault.value, **options}), now=NOW)


def test_the_sound_answer_lists_the_items() -> None:
    """By field path and path on the machine, behind the version; no content."""
    assert answer().user_data.decode().splitlines() == [
        "1.0.0",
        "os.files[0] /f",
        "os.links[0] /l1",
        "os.links[1] /l2",
        "plan.entrypoint",
    ]


@pytest.mark.parametrize(
    ("fault", "differs"),
    [
        (Fault.NONE, set()),
        (Fault.WRONG_TAG, {"request_tag"}),
        (Fault.WRONG_FORMAT, {"format"}),
        (Fault.WRONG_VERSION, {"implementation_version"}),
        (Fault.BAD_HASH, {"sha256"}),
        (Fault.EMPTY, {"user_data", "sha256"}),
        (Fault.FLOOD, {"user_data", "sha256"}),
        (Fault.EXPIRES, {"expire_time"}),
        (Fault.STRANGE_ATTACHMENT, {"attachments"}),
    ],
)
def test_what_a_fault_changes(fault: Fault, differs: set[str]) -> None:
    """These fields, and no others; the hash is that of the user data unless it is the fault."""
    sound, made = answer(), spoilt(fault)
    changed = {
        field.name for field in sound.DESCRIPTOR.fields if getattr(sound, field.name) != getattr(made, field.name)
    }
    assert changed == differs
    assert (made.sha256 == hashlib.sha256(made.user_data).digest()) == (fault is not Fault.BAD_HASH)


def test_options_of_faults() -> None:
    """A flood is as large as told, and expiry is counted from now."""
    assert len(spoilt(Fault.FLOOD, bytes=5).user_data) == 5
    assert spoilt(Fault.EXPIRES, expiresIn="90s").expire_time.ToDatetime(UTC) == NOW.replace(minute=1, second=30)


@pytest.mark.parametrize(
    ("fault", "differs"),
    [
        (Fault.NONE, set()),
        (Fault.WRONG_NAME, {"name"}),
        (Fault.WRONG_VERSION, {"implementation_version"}),
        (Fault.OTHER_FEATURES, {"formats"}),
        (Fault.NOT_ADVERTISED, {"features_advertised"}),
        (Fault.NO_FORMATS, {"formats"}),
        (Fault.FLOOD, {"documentation_url"}),
    ],
)
def test_what_a_fault_changes_in_the_information(fault: Fault, differs: set[str]) -> None:
    """These fields, and no others."""
    sound = ProvisionerCore(SOUND).info
    made = faults.spoil_info(sound, Step(fault=fault))
    assert {
        field.name for field in sound.DESCRIPTOR.fields if getattr(sound, field.name) != getattr(made, field.name)
    } == differs


def test_a_lie_about_a_feature() -> None:
    """Every use is refused with its path, and nothing when the bundle does not use it."""
    with pytest.raises(UnsupportedFeature) as caught:
        faults.refuse(bundle(), "os.links")
    assert [violation.path for violation in caught.value.violations] == ["os.links[0]", "os.links[1]"]
    faults.refuse(bundle(), "os.users")


@pytest.mark.parametrize(
    ("feature", "left"),
    [
        ("os.links", "os.files[0] /f"),
        ("os.files", "os.links[0] /l1"),
        ("os.users", "os.files[0] /f"),
    ],
)
def test_what_is_left_out_in_silence(feature: str, left: str) -> None:
    """The items of the feature are gone, the others are there."""
    less = faults.without(bundle(), feature)
    lines = SOUND.render(less, None, None).content.decode()  # type: ignore[arg-type]  # it looks at neither
    assert left in lines
    assert feature not in lines


def test_a_status_goes_out_as_told() -> None:
    """With the code of its reason unless another is told, with its fields and its delay."""
    step = Step.model_validate(
        {"fault": "Status", "reason": "OVERLOADED", "retryAfter": "2s", "message": "m", "fields": [{"path": "os"}]}
    )
    error = faults.status(step)
    assert (error.code.name, error.reason, error.retry_after, error.message) == ("UNAVAILABLE", "OVERLOADED", 2.0, "m")
    assert [violation.path for violation in error.violations] == ["os"]
    bare = faults.status(Step.model_validate({"fault": "Status", "code": "DATA_LOSS"}))
    assert (bare.code.name, bare.reason) == ("DATA_LOSS", "")
