"""The disk of a machine before it boots for the first time: what its image, and its cloud, have put on it."""

from __future__ import annotations

import dataclasses
import enum
import json
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tools.node import addresses, cgroups, machine_init
from tools.node.flavours import FLAVOURS, Flavour
from tools.oracles import ignition, network, sandbox
from tools.oracles.failures import EngineBroken

_CNI = "etc/cni/net.d/10-pods.conflist"
_SOURCE = Path(__file__).with_name("machine_files")
_LINKS = {
    "usr/bin/kubeadm": "kubebox",
    "usr/bin/kubectl": "kubebox",
    "usr/bin/kubelet": "kubebox",
    "opt/cni/bin": "/usr/lib/cni",
    "etc/systemd/system/multi-user.target.wants/kubelet.service": "/usr/lib/systemd/system/kubelet.service",
    "etc/systemd/system/sysinit.target.wants/stand-in-for-hardware.service":
        "/usr/lib/systemd/system/stand-in-for-hardware.service",
}  # fmt: skip


class FirstBoot(enum.StrEnum):
    """What reads user data on the machine."""

    CLOUD_INIT = "cloud-init"
    IGNITION = "ignition"


class Store(enum.StrEnum):
    """What container images a machine has when it boots for the first time."""

    WARM = "warm"
    EMPTY = "empty"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class FirstDisk:
    """What a machine is made of.

    Attributes:
        name: host name.
        number: from 1; addresses follow from it.
        flavour: what is installed.
        store: which container images it has.
        disk_size: in bytes, for a disk that can be full; 0 for one that is not.
        neighbours: addresses by name, for /etc/hosts, beyond its own.
        meta_data: what the cloud says beyond instance id and host name.
        sites: what Ignition can reach, which runs before the machine is in its network.
        cloud_name: gives the host name by which the cloud calls it, by its address; unset, that is its name.
    """

    name: str
    number: int
    flavour: Flavour = FLAVOURS["1.34"]
    store: Store = Store.WARM
    disk_size: int = 0
    neighbours: Mapping[str, str] = dataclasses.field(default_factory=dict)
    meta_data: Mapping[str, str] = dataclasses.field(default_factory=dict)
    sites: Sequence[network.Site] = ()
    cloud_name: Callable[[str], str] | None = None

    @property
    def address(self) -> str:
        """Its address in the site's network."""
        return addresses.machine(self.number)

    def folder(self, site: Path) -> Path:
        """Its folder in a site."""
        return site / self.name

    def group(self, site: Path) -> str:
        """The name of its control groups."""
        return f"{site.name}-{self.name}"

    def prepare(self, site: Path, user_data: bytes, by: FirstBoot) -> None:
        """Makes the machine's folder in a site, with its disk, its control groups, and the order to boot it.

        Raises:
            EngineBroken: Ignition refuses the user data.
        """
        disk = self.folder(site) / "disk"
        for folder in (self.folder(site) / "merged", self.folder(site) / "small", disk):
            folder.mkdir(parents=True)
        lower = Path(f"{site}/layer:{self.flavour.root.require()}")
        box = sandbox.Sandbox(lower, disk, hostname=self.name, sites=self.sites)
        if by is FirstBoot.IGNITION:
            self._ignite(box, user_data)
        for path, content in self._given_files(user_data, by).items():
            target = box.upper / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        self._prepare_data(site, box.upper)
        group = self.group(site)
        cgroups.make(group)
        order = machine_init.Order(
            name=self.name, group=group, number=self.number, lower=str(lower), folder=str(self.folder(site)),
            images=str(self.flavour.archive), binds=self.flavour.binds(), disk_size=self.disk_size,
        )  # fmt: skip
        (self.folder(site) / "order.json").write_text(json.dumps(dataclasses.asdict(order)), encoding="utf-8")

    def _ignite(self, box: sandbox.Sandbox, config: bytes) -> None:
        machine = ignition.Machine(box, extra_files={})
        for outcome in machine.boot(config):
            if outcome.status:
                output = outcome.output.decode(errors="replace")[-2000:]
                raise EngineBroken(f"{' '.join(outcome.argv[:2])} ended with {outcome.status}: {output}")

    def _given_files(self, user_data: bytes, by: FirstBoot) -> dict[str, bytes]:
        hosts = {"127.0.0.1": "localhost", self.address: self.name}
        lines = [f"{address} {name}" for address, name in hosts.items()]
        lines += [f"{address} {name}" for name, address in self.neighbours.items()]
        files = {
            "etc/hostname": f"{self.name}\n".encode(),
            "etc/hosts": "".join(f"{line}\n" for line in lines).encode(),
            # CoreDNS forwards to the machine's name servers, and must have one; this network has no such server.
            "etc/resolv.conf": f"nameserver {addresses.GATEWAY}\n".encode(),
            _CNI: json.dumps(_pod_network(self.number)).encode(),
        }
        if by is FirstBoot.IGNITION:
            return {**files, "etc/cloud/cloud-init.disabled": b""}
        host_name = self.cloud_name(self.address) if self.cloud_name else self.name
        meta = {"instance-id": f"i-{self.name}", "local-hostname": host_name, **self.meta_data}
        seed = "var/lib/cloud/seed/nocloud"
        return {**files, f"{seed}/user-data": user_data, f"{seed}/meta-data": json.dumps(meta).encode()}

    def _prepare_data(self, site: Path, upper: Path) -> None:
        for name in machine_init.DATA:
            data = self.folder(site) / "data" / name
            data.parent.mkdir(exist_ok=True)
            if name == "containerd" and self.store is Store.WARM:
                copy_store(self.flavour.store, data)
            else:
                data.mkdir()
            written = upper / "var/lib" / name
            if written.exists():  # by Ignition, to what the mount of this folder would hide
                shutil.copytree(written, data, dirs_exist_ok=True, symlinks=True)


def copy_store(source: Path, target: Path) -> None:
    """A containerd's folder again, with bytes of its own: root of a machine may write to any of them.

    Costs 0.3 s and 420 MB a machine where the file system cannot share blocks, and next to nothing where it can.
    """
    subprocess.run(["cp", "--archive", "--reflink=auto", source, target], check=True)


def _pod_network(number: int) -> dict[str, object]:
    ranges = [[{"subnet": addresses.pods(number)}]]
    bridge = {
        "type": "bridge", "bridge": "cni0", "isGateway": True, "ipMasq": True, "hairpinMode": True,
        "ipam": {"type": "host-local", "ranges": ranges, "routes": [{"dst": "0.0.0.0/0"}]},
    }  # fmt: skip
    plugins = [bridge, {"type": "portmap", "capabilities": {"portMappings": True}}]
    return {"cniVersion": "1.0.0", "name": "pods", "plugins": plugins}


def write_layer(target: Path) -> None:
    """Copies what a node image has beyond Debian's packages, files and links: an overlay that makes a root a node's."""
    shutil.copytree(_SOURCE, target)
    for name, link in _LINKS.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).symlink_to(link)
    for path in target.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    (target / "etc/machine-id").write_text("")  # the first boot of a machine writes its own
    (target / "var/log/journal").mkdir(parents=True)
