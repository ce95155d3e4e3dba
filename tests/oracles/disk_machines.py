"""Machines with block devices, booted twice in qemu, and what of them can be compared."""

import base64
from functools import cache
from typing import Any

from slipway.v1alpha1 import os_pb2 as ospb
from tests.oracles import ours
from tests.oracles.ours import machines
from tools.oracles import fakes, qemu
from tools.oracles.qemu import BlockDevice, Bus, Machine
from tools.oracles.sandbox import File

DEVICES = (
    BlockDevice(Bus.VIRTIO, "first"),
    BlockDevice(Bus.VIRTIO, "second"),
    BlockDevice(Bus.VIRTIO, "third"),
    BlockDevice(Bus.NVME, "fourth"),
    BlockDevice(Bus.SCSI, "fifth"),
)
_TYPES = {
    "0fc63daf-8483-4772-8e79-3d69d8477de4": "linux",
    "0657fd6d-a4ab-43c4-84e5-0933c84b4f4f": "swap",
    "0x83": "linux",
}
_OPTIONS = ("compress=", "dmask=", "fmask=", "mode=", "noatime", "ro", "rw", "size=")
_UNIT = b"[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
_ROOT = "vda"


def user_data(provisioner: str) -> bytes:
    """What the machine of disks.yaml gets."""
    return ours.render(machines("disks.yaml")["pier-disks"], provisioner).user_data


@cache
def booted(provisioner: str) -> list[dict[str, Any]]:
    """The notes of both boots."""
    boot = qemu.cloud_init if provisioner == "cloud-init" else qemu.ignition
    return boot(user_data(provisioner), machine(looked_at()), timeout=1800)


def looked_at() -> list[str]:
    """The paths of the files of disks.yaml, and of the folder that nobody names."""
    system: ospb.OperatingSystem = machines("disks.yaml")["pier-disks"].subject.spec.os
    return [*(file.path for file in system.files), "/var/lib/data/in-ner/deeper"]


def machine(look: list[str]) -> Machine:
    """A machine with a device of each kind, on which kubeadm only records how it was called."""
    units = {f"/usr/lib/systemd/system/{name}.service": File(_UNIT) for name in ("containerd", "kubelet")}
    return Machine(devices=DEVICES, look=look, files={**fakes.command("kubeadm"), **units})


def picture(note: dict[str, Any]) -> dict[str, Any]:
    """What a boot found, in the words of the table of expectations."""
    # Those that the harness itself works with are the root and two more.
    hidden = {one["name"] for one in note["block"] if (one["serial"] or "").startswith("engine-")}
    block = {one["name"]: _device(one) for one in note["block"] if one["name"] not in hidden and one["type"] != "rom"}
    devices = {f"/dev/{name}": name for name in (*block, _ROOT)}
    mounts = {
        mount["target"]: {
            "device": devices.get(mount["source"], mount["source"]),
            "filesystem": mount["fstype"],
            "options": sorted(word for word in mount["options"].split(",") if word.startswith(_OPTIONS)),
        }
        for mount in note["mounts"]
        if mount["source"] in devices or mount["target"].startswith("/var/cache")
    }
    mounts.pop("/")
    return {
        "block": block,
        "mounts": mounts,
        "swaps": {devices.get(name, name): round(int(size) / (16 << 20)) * 16 for name, size in note["swaps"]},
        "files": {path: _file(one, devices) for path, one in note["paths"].items()},
    }


def _device(one: dict[str, Any]) -> dict[str, Any]:
    words = {
        "table": one["pttype"] if one["type"] == "disk" else None,
        "type": _TYPES.get(one["parttype"], one["parttype"]) if one["type"] == "part" else None,
        "size": round(one["size"] / (16 << 20)) * 16,
        "filesystem": one["fstype"],
        "label": one["label"],
        # The others are drawn by lot.
        "uuid": one["uuid"] if (one["uuid"] or "").startswith("1b4e28ba") else None,
    }
    return {key: word for key, word in words.items() if word is not None}


def _file(one: dict[str, Any], devices: dict[str, str]) -> dict[str, Any]:
    content = {} if one["content"] is None else {"content": base64.b64decode(one["content"]).decode()}
    return {
        "device": devices.get(one["on"], one["on"]),
        "mode": one["mode"],
        "owner": one["owner"],
        "group": one["group"],
        **content,
    }
