"""Scripts for cloudbase-init, and answer files with a script beside them.

PowerShell has no form in which a machine's state stands. What is read are the statements of a script that each begin
with the name of a function and hold nothing but literals, as the provisioner for Windows writes them; its functions are
proved by its own tests. Another script is not read at all, so nothing is claimed of it. What stands between such
statements and is no part of the frame that every script has is told as it is.
"""

import base64
import binascii
import re
import ssl
from collections.abc import Callable, Mapping, Sequence
from xml.etree import ElementTree as ET  # nosec - the suite's subject is its user's own

from slipway.conformance.decoders.sight import UnreadableError, sees
from slipway.conformance.decoders.windows_others import other_answers, other_lines
from slipway.conformance.decoders.words import windows_words
from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb

_SEES = "windows"
_HEADER = b"#ps1_sysnative\n"
_ARITIES = {
    "Write-File": 4, "Add-Folder": 3, "Add-Group": 1, "Add-User": 3, "Add-Member": 2, "Add-AdministratorKey": 1,
    "Add-Authority": 1, "Start-Entry": 2, "Set-HostName": 1, "Set-TimeZone": 1,
    "Enable-TimeSync": 1, "Disable-TimeSync": 0,
}  # fmt: skip
_LITERAL = re.compile(
    r"""\(\[System\.Text\.Encoding\]::UTF8\.GetString\(\[System\.Convert\]::FromBase64String\('([A-Za-z0-9+/=]*)'\)\)\)"""
    r"""|'((?:[^']|'')*)'|(\$true|\$false)"""
)
_FUNCTION = re.compile(r"^function ([A-Za-z]+-[A-Za-z]+) \{$", re.MULTILINE)
_CMDLETS = frozenset({"set-timezone"})
_STATEMENT = re.compile(r"(?:\$code = )?([A-Z][A-Za-z]*-[A-Za-z]+)((?: .*)?)")
_ZONES = {
    "UTC": "Etc/UTC", "W. Europe Standard Time": "Europe/Berlin", "Tokyo Standard Time": "Asia/Tokyo",
    "Eastern Standard Time": "America/New_York",
}  # fmt: skip
"""The zones that the suite asks for, by their names in Windows. Source: windowsZones.xml of CLDR."""

_AS_CLIENT = ",0x8"
_ADMINISTRATORS = "administrators"
_ACCOUNTS = frozenset({"Add-Group", "Add-User"})
_PATHS = frozenset({"Write-File", "Add-Folder"})
_ANSWERS = "{urn:schemas-microsoft-com:unattend}"


def decode(user_data: bytes, attachments: Mapping[str, bytes]) -> statepb.MachineState:
    """Give what a script, or an answer file with its script, says.

    Raises:
        UnreadableError: it is neither.
    """
    if user_data.startswith(_HEADER):
        return _script(user_data, None)
    try:
        root = ET.fromstring(user_data)  # noqa: S314  # the suite's subject is its user's own
    except ET.ParseError:
        raise UnreadableError("it is neither a script for cloudbase-init nor XML") from None
    if root.tag != f"{_ANSWERS}unattend":
        raise UnreadableError("its root element is not unattend")
    script = next((content for name, content in sorted(attachments.items()) if name.endswith(".ps1")), b"")
    return _script(script, root)


def _script(script: bytes, answers: ET.Element | None) -> statepb.MachineState:
    try:
        text = script.decode("ascii")
        calls = [found for line in _reached(text) if (found := _call(line))]
        _check_functions(text, calls)
        state = statepb.MachineState(features=sees(_SEES) if calls else [])
        _apply(state, calls)
        if calls:
            # Of a script in another form nothing is known, so nothing in it is odd.
            state.others.extend(other_lines(text, is_call=lambda line: _call(line) is not None))
            state.others.extend(other_answers(answers))
    except (UnicodeDecodeError, binascii.Error, ValueError, IndexError, StopIteration):
        raise UnreadableError("the script holds a statement that cannot be read") from None
    for program in state.programs:
        program.start = _repeated(text) if calls[-1][0] == "Start-Entry" else statepb.START_EARLY
    for component in () if answers is None else answers.iter(f"{_ANSWERS}component"):
        state.architecture = component.get("processorArchitecture", "")
    name = None if answers is None else answers.findtext(f".//{_ANSWERS}ComputerName")
    if name:
        state.os.hostname.name.value = name
    zone = None if answers is None else answers.findtext(f".//{_ANSWERS}TimeZone")
    if zone:
        state.os.time_zone.name = _ZONES.get(zone, zone)
    return state


def _reached(text: str) -> list[str]:
    """Give the lines of a script without those behind an exit that stands in no block."""
    lines = text.split("\n")
    depth = 0
    for number, line in enumerate(lines):
        if not depth and line.startswith("exit "):
            return lines[:number]
        depth += line.endswith("{") - line.startswith("}")
    return lines


def _check_functions(text: str, calls: Sequence[tuple[str, list[str | bool]]]) -> None:
    """See that what is called is there, and that no two files or directories are one, as case means nothing.

    Raises:
        UnreadableError: it is not, or they are.
    """
    defined = {name.lower() for name in _FUNCTION.findall(text)} | _CMDLETS
    if not {function.lower() for function, _ in calls} <= defined:
        raise UnreadableError("the script calls a function that it does not have")
    for function in ("Write-File", "Add-Folder", "Add-User", "Add-Group"):
        names = [str(values[0]).replace("/", "\\").rstrip("\\").lower() for name, values in calls if name == function]
        if len(set(names)) != len(names):
            raise UnreadableError(f"two calls of {function} are for one name on Windows, where case means nothing")


def _repeated(text: str) -> statepb.Start.ValueType:
    """Give when the program starts: once, where the script goes on after a failure as after success."""
    lines = text.split("\n")
    start = next((number for number, line in enumerate(lines) if line.startswith("$code = Start-Entry ")), None)
    if start is None:
        return statepb.START_UNSPECIFIED
    ends = lines[start + 1 : start + 4] == ["if ($code -ne 0) {", "exit 1", "}"]
    return statepb.START_EVERY_BOOT if ends else statepb.START_FIRST_BOOT


def _call(line: str) -> tuple[str, list[str | bool]] | None:
    """Give the function and the literals of a statement; None when it is another one."""
    found = _STATEMENT.fullmatch(line)
    if found is None or found[1] not in _ARITIES:
        return None
    values = _literals(found[2].removeprefix(" -Id"))
    return (found[1], values) if values is not None and len(values) == _ARITIES[found[1]] else None


def _literals(text: str) -> list[str | bool] | None:
    """Give the literals of a statement; None when there is anything else."""
    values: list[str | bool] = []
    at = 0
    while at < len(text):
        found = _LITERAL.match(text, at + 1) if text[at] == " " else None
        if found is None:
            return None
        if found[1] is not None:
            values.append(base64.b64decode(found[1], validate=True).decode())
        elif found[2] is not None:
            values.append(found[2].replace("''", "'"))
        else:
            values.append(found[3] == "$true")
        at = found.end()
    return values


def _apply(state: statepb.MachineState, calls: Sequence[tuple[str, list[str | bool]]]) -> None:
    accounts = max((number for number, (function, _) in enumerate(calls) if function in _ACCOUNTS), default=0)
    for number, (function, values) in enumerate(calls):
        if number < accounts and function in _PATHS:
            state.early_files.append(str(values[0]))
        _FUNCTIONS[function](state, values)


def _file(state: statepb.MachineState, values: list[str | bool]) -> None:
    path, data, owner = map(str, values[:3])
    file = state.os.files.add(path=path, owner=owner or "root", group="root", mode=_mode(values[3]))
    file.content.data = base64.b64decode(data, validate=True)


def _folder(state: statepb.MachineState, values: list[str | bool]) -> None:
    path, owner = map(str, values[:2])
    state.os.directories.add(path=path, owner=owner or "root", group="root", mode=_mode(values[2]))


def _user(state: statepb.MachineState, values: list[str | bool]) -> None:
    # Windows has no account without a password: each gets one that nobody knows.
    state.os.users.add(name=str(values[0]), gecos=str(values[1]), inactive=not values[2], lock_password=True)


def _member(state: statepb.MachineState, values: list[str | bool]) -> None:
    next(user for user in state.os.users if user.name == values[1]).groups.append(str(values[0]))


def _time(state: statepb.MachineState, values: list[str | bool]) -> None:
    state.os.ntp.enabled = bool(values)
    for peers in values:
        for peer in str(peers).split():
            # Only with this flag a peer is asked as a server; without it Windows offers to be its equal.
            name = peer.removesuffix(_AS_CLIENT)
            state.os.ntp.servers.append(name if name != peer else f"equal {peer}")


def _key(state: statepb.MachineState, values: list[str | bool]) -> None:
    # The file holds the keys of administrators alone.
    user = state.os.users[-1]
    if _ADMINISTRATORS not in {group.casefold() for group in user.groups}:
        raise UnreadableError("the script gives a key of the administrators to another account")
    user.ssh_authorized_keys.append(str(values[0]))


def _start(state: statepb.MachineState, values: list[str | bool]) -> None:
    state.programs.add(argv=[str(values[0]), *windows_words(str(values[1]))])


def _name(state: statepb.MachineState, values: list[str | bool]) -> None:
    state.os.hostname.name.value = str(values[0])


def _zone(state: statepb.MachineState, values: list[str | bool]) -> None:
    state.os.time_zone.name = _ZONES.get(str(values[0]), str(values[0]))


def _authority(state: statepb.MachineState, values: list[str | bool]) -> None:
    pem = ssl.DER_cert_to_PEM_cert(base64.b64decode(str(values[0]), validate=True))
    state.os.trusted_certificates.add().certificate.data = pem.encode()


def _mode(protected: str | bool) -> int:  # noqa: FBT001  # a literal of the script
    return 0o600 if protected is True else 0o644


_FUNCTIONS: Mapping[str, Callable[[statepb.MachineState, list[str | bool]], object]] = {
    "Write-File": _file,
    "Add-Folder": _folder,
    "Add-Group": lambda state, values: state.os.groups.add(name=str(values[0])),
    "Add-User": _user,
    "Add-Member": _member,
    "Add-AdministratorKey": _key,
    "Start-Entry": _start,
    "Set-HostName": _name,
    "Set-TimeZone": _zone,
    "Add-Authority": _authority,
    "Enable-TimeSync": _time,
    "Disable-TimeSync": _time,
}
