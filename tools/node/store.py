"""The folder of a containerd that has all images already, as on the node image of a cloud, which pulls nothing."""

from __future__ import annotations

from pathlib import Path

from tools.node import flavours, site
from tools.node.first_disk import Store
from tools.node.flavours import Flavour
from tools.oracles import cache
from tools.oracles.failures import EngineBroken

_NOTHING = b"#cloud-config\n{}\n"


def build(flavour: Flavour) -> Path:
    """Makes archive and store unless they are there; 15 s, in a machine that a containerd of the right age runs on."""
    flavours.build_archive(flavour)
    with cache.locked(f"node-store-{flavour.name}"):
        if flavour.store.is_dir():
            return flavour.store
        with cache.being_built(flavour.store) as beside, site.opened() as place:
            machine = place.machine("importer", flavour=flavour.name, store=Store.EMPTY)
            machine.boot(_NOTHING)
            machine.wait_until(lambda: not machine.run(["ctr", "version"]).status, "no containerd", timeout=60.0)
            done = machine.run(["ctr", "--namespace=k8s.io", "images", "import", "/images.tar"], timeout=120.0)
            if done.status:
                raise EngineBroken(f"images of {flavour.name}: {done.errors[-1000:]}")
            machine.run(["systemctl", "stop", "containerd"])
            machine.power_off()
            beside.rmdir()
            (machine.folder / "data/containerd").rename(beside)
        for old in flavour.store.parent.glob(f"{flavour.name}-????????????"):
            if old != flavour.store:
                cache.discard(old)
    return flavour.store
