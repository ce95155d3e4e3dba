"""Runs on a machine in qemu at the end of each boot: notes what is there, then reboots or ends it.

The notes are one JSON document for each boot, handed over in a tar archive on a block device, so that nobody has to
mount anything of the machine.
"""

import base64
import grp
import json
import pwd
import stat
import subprocess
import tarfile
from pathlib import Path
from typing import Any

STATE = Path("/var/lib/engine")
RESULT = Path("/dev/disk/by-id/virtio-engine-result")
_BLOCK = "NAME,TYPE,SIZE,FSTYPE,LABEL,UUID,PARTLABEL,PARTTYPE,PTTYPE,SERIAL"


def main() -> None:
    """Note this boot; after the last one hand everything over."""
    order = json.loads((STATE / "order.json").read_text(encoding="utf-8"))
    boot = len([*STATE.glob("boot-*.json")]) + 1
    note = STATE / f"boot-{boot}.json"
    note.write_text(json.dumps(observe(order["look"])), encoding="utf-8")
    if boot < order["boots"]:
        say("systemctl", "--no-block", "reboot")
        return
    with tarfile.open(RESULT, "w") as archive:
        for path in [*STATE.glob("boot-*.json"), *STATE.glob("stages"), *STATE.glob("*.log")]:
            archive.add(path, path.name)
    say("sync")
    say("systemctl", "--no-block", "poweroff")


def observe(look: list[str]) -> dict[str, Any]:
    """The machine once nothing is starting any more."""
    return {
        "state": say("systemctl", "is-system-running", "--wait").strip(),
        "failed": [line.split()[0] for line in say("systemctl", "--failed", "--no-legend", "--plain").splitlines()],
        "uptime": float(Path("/proc/uptime").read_text(encoding="utf-8").split()[0]),
        "block": json.loads(say("lsblk", "--json", "--bytes", "--list", "--output", _BLOCK))["blockdevices"],
        "mounts": json.loads(say("findmnt", "--json", "--list", "--output", "TARGET,SOURCE,FSTYPE,OPTIONS"))[
            "filesystems"
        ],
        "swaps": [line.split() for line in say("swapon", "--show=NAME,SIZE", "--noheadings", "--bytes").splitlines()],
        "paths": {path: state for path in look if (state := path_of(Path(path)))},
        "cloud_init": text_of("/var/lib/cloud/data/status.json"),
        "log": text_of("/var/log/cloud-init.log"),
        "journal": say("journalctl", "--boot", "--no-pager", "--priority=warning", "--output=short-monotonic"),
        "labels": sorted(path.name for path in Path("/dev/disk/by-label").glob("*")),
        "calls": text_of("/var/lib/engine-fakes/calls"),
        "sentinel": text_of("/run/cluster-api/bootstrap-success.complete"),
    }


def path_of(path: Path) -> dict[str, Any]:
    """What a path is, and on which device it lies; nothing where it is not there."""
    if not path.exists():
        return {}
    about = path.stat()
    return {
        "mode": f"{stat.S_IMODE(about.st_mode):04o}",
        "owner": pwd.getpwuid(about.st_uid).pw_name,
        "group": grp.getgrgid(about.st_gid).gr_name,
        "content": base64.b64encode(path.read_bytes()).decode() if path.is_file() and about.st_size < 1 << 20 else None,
        "size": about.st_size,
        "on": say("findmnt", "--noheadings", "--output", "SOURCE", "--target", str(path)).strip(),
    }


def text_of(path: str) -> str:
    """A file's text, or nothing."""
    return Path(path).read_text(encoding="utf-8", errors="replace") if Path(path).is_file() else ""


def say(*command: str) -> str:
    """What a command says, however it ends."""
    return subprocess.run(command, check=False, capture_output=True, text=True, errors="replace").stdout


if __name__ == "__main__":
    main()
