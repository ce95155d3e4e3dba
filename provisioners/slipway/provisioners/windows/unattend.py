"""An answer file of Windows Setup, and the script that it starts.

An answer file can neither hold a script nor write a file, so the script is an attachment that lies beside it, on the
same disk. It starts once, early; the script then sees to the rest by itself, because the first-logon commands of an
answer file need somebody's password and do not keep their order.
"""

import base64
import hashlib
from typing import Final
from xml.etree import ElementTree as ET  # nosec - it only builds what is sent and reads that back

from slipway.provisioners.windows.items import calls, computer_name, zone
from slipway.provisioners.windows.script import body, entry_point, program, text
from slipway.sdk import RenderContext, UserData
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

SCRIPT: Final = "slipway-setup.ps1"
_NAMESPACE = "urn:schemas-microsoft-com:unattend"
_WCM = "http://schemas.microsoft.com/WMIConfig/2002/State"
# Setup names no drive; the disk with the answer file is one of those that have a letter.
_START = (
    'powershell.exe -NoProfile -ExecutionPolicy Bypass -Command "Get-PSDrive -PSProvider FileSystem | '
    f"foreach {{ $_.Root + '{SCRIPT}' }} | where {{ Test-Path $_ }} | select -First 1 | foreach {{ & $_ install }}\""
)
_FINISH = ("$null = & schtasks.exe /Delete /F /TN slipway-setup",)


def render(bundle: bundlepb.BootstrapBundle, target: clusterpb.Target, ctx: RenderContext) -> UserData:
    """Give the answer file, and the script as an attachment."""
    name = computer_name(bundle.os, ctx)
    items = calls(bundle.os, ctx)
    lines = [
        *program("setup"),
        *program("start"),
        *body([*program("password"), *items], entry_point(bundle), finish=_FINISH, ctx=ctx),
    ]
    script = text(lines)
    document = _document(
        architecture=target.architecture or "amd64", name=name, zone=zone(bundle.os, ctx), password=_password(script)
    )
    attachment = provisionerpb.Attachment(name=SCRIPT, media_type="text/x-powershell", content=script)
    return UserData(document, (attachment,))


def _password(script: bytes) -> str:
    """Give the password that Setup insists on, in Setup's own disguise.

    It follows from the script, whose secrets nobody can guess, so every machine has another one; and the script itself
    replaces it by one that nobody knows.
    """
    digest = hashlib.sha256(b"administrator until the script has run\n" + script).digest()
    plain = f"aA1!{base64.b64encode(digest).decode('ascii')}AdministratorPassword"
    return base64.b64encode(plain.encode("utf-16-le")).decode("ascii")


def _document(*, architecture: str, name: str | None, zone: str | None, password: str) -> bytes:
    root = ET.Element("unattend", {"xmlns": _NAMESPACE, "xmlns:wcm": _WCM})
    specialize = ET.SubElement(root, "settings", {"pass": "specialize"})
    if name is not None or zone is not None:
        shell = _component(specialize, "Microsoft-Windows-Shell-Setup", architecture)
        _text(shell, "ComputerName", name)
        _text(shell, "TimeZone", zone)
    deployment = _component(specialize, "Microsoft-Windows-Deployment", architecture)
    commands = ET.SubElement(deployment, "RunSynchronous")
    command = ET.SubElement(commands, "RunSynchronousCommand", {"wcm:action": "add"})
    _text(command, "Order", "1")
    _text(command, "Path", _START)
    shell = _component(
        ET.SubElement(root, "settings", {"pass": "oobeSystem"}), "Microsoft-Windows-Shell-Setup", architecture
    )
    out_of_box = ET.SubElement(shell, "OOBE")
    _text(out_of_box, "HideEULAPage", "true")
    _text(out_of_box, "ProtectYourPC", "3")
    administrator = ET.SubElement(ET.SubElement(shell, "UserAccounts"), "AdministratorPassword")
    _text(administrator, "Value", password)
    _text(administrator, "PlainText", "false")
    ET.indent(root)
    document: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    if ET.fromstring(document).tag != f"{{{_NAMESPACE}}}unattend":  # noqa: S314 - our own
        raise AssertionError("the answer file does not read back as what was written")
    return document


def _component(settings: ET.Element, name: str, architecture: str) -> ET.Element:
    identity = {
        "name": name,
        "processorArchitecture": architecture,
        "publicKeyToken": "31bf3856ad364e35",
        "language": "neutral",
        "versionScope": "nonSxS",
    }
    return ET.SubElement(settings, "component", identity)


def _text(parent: ET.Element, tag: str, value: str | None) -> None:
    if value is not None:
        ET.SubElement(parent, tag).text = value
