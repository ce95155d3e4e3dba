"""The kinds of node that can be had here: a Debian release with its containerd, and a Kubernetes with its images."""

from __future__ import annotations

import dataclasses
import hashlib
import subprocess
from pathlib import Path

from tools.node.container_images import Entries, Image, write_archive
from tools.oracles import cache, go_programs, roots
from tools.oracles.failures import EngineBroken, EngineMissing

_REGISTRY = "registry.k8s.io"
_PROGRAMS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
_KUBERNETES = "/usr/local/bin/kubebox"
_FIREWALL = "usr/sbin/xtables-nft-multi"
_FIREWALL_NAMES = ("iptables", "ip6tables")
_EDITION = "1"  # Raise it when an image changes in what is not a program's name.


@dataclasses.dataclass(frozen=True, slots=True)
class Flavour:
    """One kind of node: tags are those that this kubeadm asks for, whatever is behind them here."""

    name: str
    version: str
    root_name: str
    pause: str
    etcd: str
    coredns: str
    tools: tuple[str, ...] = ()

    @property
    def root(self) -> roots.Root:
        """The Debian system below."""
        return roots.ROOTS[self.root_name]

    @property
    def programs(self) -> go_programs.Program:
        """Kubernetes itself."""
        return go_programs.PROGRAMS[f"kubebox-{self.name}"]

    @property
    def archive(self) -> Path:
        """Where the archive of its container images is, or will be."""
        return cache.directory() / "node-images" / f"{self.name}-{self._digest()}.tar"

    @property
    def store(self) -> Path:
        """Where the folder of a containerd that has these images is, or will be."""
        return cache.directory() / "node-stores" / f"{self.name}-{self._digest()}"

    def require(self, *, store: bool = True) -> None:
        """Does nothing when everything is there; ``store`` is of no interest to a machine that has no images.

        Raises:
            EngineMissing: a part was not built yet.
        """
        for program in (self.programs, *self._tools()):
            program.require()
        for root in (self.root, roots.ROOTS["ignition"]):
            root.require()
        if not self.archive.is_file() or (store and not self.store.is_dir()):
            raise EngineMissing(f"node-{self.name}")

    @property
    def parts(self) -> tuple[str, ...]:
        """What has to be built for it, as ``tools.oracles.build`` calls it, in order."""
        programs = dict.fromkeys((self.programs.name, "kubebox-1.34", "coredns", "node-parts", *self.tools))
        return (f"root-{self.root_name}", "root-ignition", *programs, f"node-store-{self.name}")

    def binds(self) -> dict[str, str]:
        """Programs that a machine sees, by its own path of each: Kubernetes, and what is called besides."""
        tools = {f"/usr/bin/{tool.name.partition('-')[0]}": str(tool.require()) for tool in self._tools()}
        return {"/usr/bin/kubebox": str(self.programs.require()), **tools}

    def _tags(self) -> tuple[str, ...]:
        return self.version, self.pause, self.etcd, self.coredns

    def _tools(self) -> list[go_programs.Program]:
        return [go_programs.PROGRAMS[name] for name in self.tools]

    def _digest(self) -> str:
        parts = [self.programs, *(go_programs.PROGRAMS[name] for name in ("kubebox-1.34", "coredns", "node-parts"))]
        recipe = [_EDITION, *self._tags(), self.root.path.name, *(part.path.name for part in parts)]
        return hashlib.sha256("\n".join(recipe).encode()).hexdigest()[:12]


FLAVOURS = {
    flavour.name: flavour
    for flavour in (
        Flavour("1.34", "v1.34.10", "node-trixie", pause="3.10.1", etcd="3.6.5-0", coredns="v1.12.1"),
        Flavour(
            "1.30",
            "v1.30.5",
            "node-bookworm",
            pause="3.9",
            etcd="3.5.15-0",
            coredns="v1.11.3",
            tools=("crictl-1.30",),
        ),
    )
}
FLAVOURS["1.34-k0s"] = dataclasses.replace(FLAVOURS["1.34"], tools=("k0s-1.27",))
"""The same with k0s beside kubeadm: it takes the programs of the control plane from the machine."""


def build_archive(flavour: Flavour) -> Path:
    """Writes the archive of container images unless it is there; 3 s."""
    with cache.locked(f"node-images-{flavour.name}"):
        if not flavour.archive.is_file():
            flavour.archive.parent.mkdir(parents=True, exist_ok=True)
            beside = flavour.archive.with_name(f".{flavour.archive.name}.building")
            write_archive(beside, _images(flavour))
            for old in flavour.archive.parent.glob(f"{flavour.name}-*.tar"):
                old.unlink()
            beside.rename(flavour.archive)
    return flavour.archive


def _images(flavour: Flavour) -> list[Image]:
    kubernetes = _kubernetes_layer(flavour.programs.require())
    newest = go_programs.PROGRAMS["kubebox-1.34"]  # the one with an etcd in it
    etcd = kubernetes if newest == flavour.programs else _kubernetes_layer(newest.require())
    parts = go_programs.PROGRAMS["node-parts"].require()
    proxy: Entries = {"/usr/local/bin/kube-proxy": parts, **_firewall(flavour.root.require())}
    coredns = go_programs.PROGRAMS["coredns"].require()
    return [
        *(Image(f"{_REGISTRY}/{name}:{flavour.version}", (kubernetes,)) for name in _PROGRAMS),
        Image(f"{_REGISTRY}/etcd:{flavour.etcd}", (etcd,)),
        Image(f"{_REGISTRY}/kube-proxy:{flavour.version}", (kubernetes, proxy)),
        Image(f"{_REGISTRY}/coredns/coredns:{flavour.coredns}", ({"/coredns": coredns},), ("/coredns",)),
        *(
            Image(f"{_REGISTRY}/pause:{tag}", ({"/pause": parts},), ("/pause",))
            for tag in sorted({flavour.pause, FLAVOURS["1.34"].pause})
        ),
    ]


def _kubernetes_layer(programs: Path) -> Entries:
    return {_KUBERNETES: programs, **{f"/usr/local/bin/{name}": _KUBERNETES for name in (*_PROGRAMS, "etcd")}}


def _firewall(root: Path) -> dict[str, Path | str]:
    """The iptables of a root with every library that it loads."""
    plugins = sorted(root.glob("usr/lib/*/xtables/*.so"))
    wanted = [root / _FIREWALL, *plugins]
    inside = [f"/{path.relative_to(root)}" for path in wanted]
    done = subprocess.run(["chroot", root, "ldd", *inside], check=False, capture_output=True, text=True)
    if done.returncode:
        raise EngineBroken(f"ldd: {done.stderr[-1000:]}")
    libraries = {word for word in done.stdout.split() if word.startswith("/") and not word.endswith(":")}
    entries: dict[str, Path | str] = {path: (root / path.lstrip("/")).resolve() for path in {*inside, *libraries}}
    for name in _FIREWALL_NAMES:
        for what in ("", "-save", "-restore"):
            entries[f"/usr/sbin/{name}{what}"] = "xtables-nft-multi"
    return entries
