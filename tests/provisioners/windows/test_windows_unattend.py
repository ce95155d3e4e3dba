"""The answer file and what lies beside it."""

import base64
import re
from xml.etree import ElementTree as ET

import pytest

from slipway.contract.errors import AttachmentsNotAccepted
from slipway.contract.features import feature_uses
from slipway.provisioners.windows.capabilities import formats
from slipway.provisioners.windows.unattend import SCRIPT
from tests.provisioners.windows import samples

NAMES = {"u": "urn:schemas-microsoft-com:unattend"}


def found(document: bytes, element: str) -> list[str]:
    """Give the texts of all elements of a name."""
    return [node.text or "" for node in ET.fromstring(document).iterfind(f".//u:{element}", NAMES)]


def test_what_an_answer_file_can_say_it_says():
    """Name and zone are Setup's own; the script does not set them once more."""
    answer = samples.render(samples.everything(), "unattend")
    assert found(answer.user_data, "ComputerName") == ["win-1"]
    assert found(answer.user_data, "TimeZone") == ["W. Europe Standard Time"]
    assert b"Rename-Computer" not in answer.attachments[0].content
    assert b"Set-TimeZone" not in answer.attachments[0].content


def test_the_script_is_an_attachment_for_the_machine():
    """An answer file cannot hold it; the command in the answer file finds it by its name."""
    answer = samples.render(samples.bundle(), "unattend")
    (attachment,) = answer.attachments
    assert (attachment.name, attachment.operator_only) == (SCRIPT, False)
    (command,) = found(answer.user_data, "Path")
    assert SCRIPT in command
    assert len(command) < 260
    assert not found(answer.user_data, "ComputerName")


def test_a_caller_that_can_place_no_attachments_is_refused():
    """Without the script the machine would start and never join."""
    with pytest.raises(AttachmentsNotAccepted) as caught:
        samples.render(samples.bundle(), "unattend", accept_attachments=False)
    assert caught.value.metadata["attachments"] == SCRIPT


def password(bundle) -> str:
    """Give the Administrator's password as Setup reads it."""
    (value,) = found(samples.render(bundle, "unattend").user_data, "Value")
    return base64.b64decode(value).decode("utf-16-le")


def test_the_password_is_another_one_for_every_machine():
    """Setup insists on one. Who knows that of one machine must not know that of another."""
    one, other = samples.bundle(), samples.bundle()
    other.plan.entrypoint.argv.append("other")
    assert password(one) == password(samples.bundle()) != password(other)
    assert re.fullmatch(r"aA1![A-Za-z0-9+/=]{44}AdministratorPassword", password(one))


def test_the_password_dies_on_the_machine():
    """The answer file may lie around; what stands in it is worth nothing after the first boot."""
    (attachment,) = samples.render(samples.bundle(), "unattend").attachments
    assert b"Set-LocalUser -Password (New-Password)" in attachment.content


@pytest.mark.parametrize("info", formats(), ids=lambda info: info.format)
def test_every_declared_feature_is_in_the_sample(info):
    """A feature that no test renders could be declared by mistake."""
    used = {use.id for use in feature_uses(samples.everything())}
    assert {support.id for support in info.features} == used
