"""The units of an Ignition config: what they start, mount and swap on."""

import re
from typing import Any

from slipway.conformance.decoders import units
from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb
from slipway.v1alpha1 import os_pb2 as ospb

_TAGS = {"label": "LABEL", "uuid": "UUID", "partlabel": "PARTLABEL", "partuuid": "PARTUUID"}
_NETWORK = "network-online.target"


def unit(entry: dict[str, Any], state: statepb.MachineState) -> None:
    """Add a unit, and what it starts, mounts or swaps on, to a state."""
    made = state.os.systemd_units.add(name=entry["name"])
    if entry.get("enabled") is not None:
        made.enabled = entry["enabled"]
    if entry.get("mask") is not None:
        made.masked = entry["mask"]
    for part in entry.get("dropins") or []:
        made.drop_ins.add(name=part["name"], contents=part.get("contents") or "")
    if not entry.get("contents"):
        return
    made.contents = entry["contents"]
    sections = units.sections(made.contents)
    for program in units.programs(sections) if made.enabled else ():
        program.drop_ins.extend(made.drop_ins)
        program.unit_name = made.name
        if not units.waits_for(sections, _NETWORK):
            program.start = statepb.START_EARLY
        state.programs.append(program)
    # systemd loads no mount whose unit has another name than its path.
    if made.name == f"{units.of_path(sections.get('Mount', {}).get('Where', ['?'])[0].replace('%%', '%'))}.mount":
        _mount(sections, state.os)
    what = sections.get("Swap", {}).get("What", ["?"])[0].replace("%%", "%")
    targets = " ".join(word for words in sections.get("Install", {}).values() for word in words).split()
    if made.name == f"{units.of_path(what)}.swap" and made.enabled and "swap.target" in targets:
        swap = state.os.mounts.add(source=_source(what), path="none", type="swap")
        options = ",".join(sections["Swap"].get("Options", [])).replace("%%", "%")
        swap.options.extend(option for option in options.split(",") if option)


def _is_effective(option: str, targets: list[str]) -> bool:
    """Whether a unit does what an option asks for; source: systemd.mount(5), "FSTAB": those of fstab are no unit's."""
    if option == "_netdev":
        return "remote-fs.target" in targets
    return not option.startswith("x-systemd.") and (option != "noauto" or not targets)


def _source(what: str) -> str:
    """Give what is mounted as the contract writes it: by its tag where the path is one of a tag."""
    tag = re.fullmatch(r"/dev/disk/by-(label|uuid|partlabel|partuuid)/([^/]*)", what)
    if tag is None:
        return what
    data = re.sub(rb"\\x([0-9a-f]{2})", lambda match: bytes([int(match[1], 16)]), tag[2].encode())
    value = data.decode(errors="replace")
    # udev makes no link of another spelling.
    return f"{_TAGS[tag[1]]}={value}" if units.of_tag(value) == tag[2] else what


def _mount(sections: units.Sections, system: ospb.OperatingSystem) -> None:
    said = sections.get("Mount", {})
    what, where = said["What"][0].replace("%%", "%"), said["Where"][0].replace("%%", "%")
    mount = system.mounts.add(source=_source(what), path=where, type=said.get("Type", [""])[0].replace("%%", "%"))
    options = ",".join(said.get("Options", [])).replace("%%", "%")
    install = sections.get("Install", {})
    targets = " ".join([*install.get("WantedBy", []), *install.get("RequiredBy", [])]).split()
    mount.options.extend(option for option in options.split(",") if option and _is_effective(option, targets))
    # A unit is checked by what it requires, if it waits for that.
    required = " ".join(sections.get("Unit", {}).get("Requires", [])).split()
    mount.check = any(name.startswith("systemd-fsck@") and units.waits_for(sections, name) for name in required)
    if sections.get("Install", {}).get("WantedBy"):
        mount.options.append("nofail")
