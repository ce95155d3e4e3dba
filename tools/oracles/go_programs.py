"""Our small Go programs around published modules: how they are built, found and asked.

A validator written in Go can only be had as a Go module. Each project has a module of its own, pinned by
go.sum, so that one engine's dependencies never move another's; a second version of the same engine is a
second ``.mod`` file, and programs of one project share a module, and so what the compiler has done for one of them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tools.oracles import cache
from tools.oracles.failures import EngineBroken, EngineMissing, EngineTimeout

_SOURCES = Path(__file__).with_name("go")
_TIMEOUT = 60.0
_SETTINGS = {"GOFLAGS": "-trimpath -buildvcs=false -mod=readonly", "CGO_ENABLED": "0"}
_K0S = "github.com/k0sproject/k0s"


@dataclasses.dataclass(frozen=True, slots=True)
class Program:
    """One binary; ``modfile`` picks the engine's version, ``stamp`` is what its own build links in.

    ``package`` is what is built: the folder's own program, another one in it, or one that its module pins.
    ``overlay`` adds files that the module of the package lacks, since its own build generates them: by their path in
    that module, the name of the file in the folder ``overlay`` that stands in for each.
    """

    name: str
    folder: str
    modfile: str = "go.mod"
    tags: str = ""
    stamp: Mapping[str, str] = dataclasses.field(default_factory=dict)
    package: str = "."
    overlay: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def path(self) -> Path:
        """Where the binary is, or will be; the name changes with the sources and pins."""
        return cache.directory() / "bin" / f"{self.name}-{_digest(self)}"

    def require(self) -> Path:
        """The binary's path.

        Raises:
            EngineMissing: it was not built yet.
        """
        if not self.path.is_file():
            raise EngineMissing(self.name)
        return self.path

    def ask(
        self, *arguments: str, document: bytes = b"", environment: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """Runs the program on a document; gives its JSON answer.

        Raises:
            EngineMissing: it was not built yet.
            EngineTimeout: it took longer than a minute.
            EngineBroken: it gave no JSON.
        """
        command = [str(self.require()), *arguments]
        try:
            done = subprocess.run(
                command,
                input=document,
                capture_output=True,
                check=False,
                timeout=_TIMEOUT,
                env=dict(environment or {}),
            )
        except subprocess.TimeoutExpired:
            raise EngineTimeout(f"{self.name}: no answer after {_TIMEOUT:.0f} s") from None
        try:
            answer: dict[str, Any] = json.loads(done.stdout)
        except ValueError:
            raise EngineBroken(f"{self.name}: {done.stderr.decode(errors='replace')[-1000:]}") from None
        return answer


def _kubernetes_stamp(version: str) -> dict[str, str]:
    major, minor = version.lstrip("v").split(".")[:2]
    values = {"gitVersion": version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    return {f"k8s.io/component-base/version.{name}": value for name, value in values.items()}


PROGRAMS = {
    program.name: program
    for program in (
        Program("talos-1.13", "talos"),
        Program("talos-1.11", "talos", modfile="go-1.11.mod"),
        Program("ignition-parsers", "ignition"),
        Program("kubebox-1.34", "kubebox", stamp=_kubernetes_stamp("v1.34.10")),
        Program("kubeadm-1.34", "kubebox", package="./kubeadm", stamp=_kubernetes_stamp("v1.34.10")),
        Program(
            "kubebox-1.30",
            "kubebox",
            modfile="go-1.30.mod",
            tags="kubernetes_1_30",
            stamp=_kubernetes_stamp("v1.30.5"),
        ),
        Program(
            "kubeadm-1.30",
            "kubebox",
            modfile="go-1.30.mod",
            tags="kubernetes_1_30",
            package="./kubeadm",
            stamp=_kubernetes_stamp("v1.30.5"),
        ),
        Program("crictl-1.30", "crictl", package="github.com/kubernetes-sigs/cri-tools/cmd/crictl"),
        Program("coredns", "coredns"),
        Program("node-parts", "node_parts"),
        Program("containerd-config", "containerd"),
        Program(
            "containerd-2.2",
            "containerd_daemon",
            stamp={"github.com/containerd/containerd/v2/version.Version": "2.2.3"},
        ),
        Program("kubeadm-provider", "kubeadm_provider"),
        Program("k3s-provider", "k3s_provider"),
        Program("promql", "prometheus"),
        Program(
            "promtool",
            "prometheus",
            package="github.com/prometheus/prometheus/cmd/promtool",
            tags="remove_all_sd",  # without it the clients of every cloud are compiled
        ),
        Program("collector", "collector"),
        Program("grpcurl", "grpcurl", package="github.com/fullstorydev/grpcurl/cmd/grpcurl"),
        Program("versitygw", "versitygw", package="github.com/versity/versitygw/cmd/versitygw"),
        Program("cluster-api-1.12", "cluster_api_1_12"),
        Program("cluster-api-1.14", "cluster_api_1_14"),
        Program("clusterctl-1.14", "clusterctl", package="sigs.k8s.io/cluster-api/cmd/clusterctl"),
        Program(
            "cluster-api-1.14-kubeadm-bootstrap",
            "cluster_api_1_14",
            package="sigs.k8s.io/cluster-api/bootstrap/kubeadm",
        ),
        Program(
            "k0s-1.27",
            "k0s",
            package=_K0S,
            tags="osusergo",
            stamp={
                f"{_K0S}/pkg/build.Version": "v1.27.2+k0s.0",
                f"{_K0S}/pkg/build.KubernetesVersion": "1.34.10",
                f"{_K0S}/pkg/build.EtcdVersion": "3.6.5",
                **_kubernetes_stamp("v1.34.10"),
            },
            overlay={
                "pkg/assets/zz_generated_offsets_linux.go": "assets.go",
                "static/zz_generated_assets.go": "static.go",
            },
        ),
    )
}


def build(program: Program) -> Path:
    """Builds the program unless it is there; 20 s to 3 minutes when the Go build cache is cold."""
    with cache.locked(program.name):
        if program.path.is_file():
            return program.path
        go = shutil.which("go")
        if go is None:
            raise EngineMissing(program.name, "no Go toolchain on PATH")
        program.path.parent.mkdir(parents=True, exist_ok=True)
        beside = program.path.with_name(f".{program.path.name}.building")
        stamp = " ".join(f"-X {name}={value}" for name, value in program.stamp.items())
        options = [f"-tags={program.tags}", f"-ldflags=-s -w {stamp}"]
        environment = {**os.environ, **_SETTINGS}
        with _overlay(program) as overlay:
            done = subprocess.run(
                ["nice", go, "build", *options, *overlay, "-o", beside, program.package],
                cwd=_SOURCES / program.folder, env=environment, check=False, capture_output=True, text=True,
            )  # fmt: skip
        if done.returncode:
            raise EngineBroken(f"go build {program.name}: {done.stderr[-2000:]}")
        for old in program.path.parent.glob(f"{program.name}-????????????"):
            old.unlink()
        beside.rename(program.path)
    return program.path


@contextlib.contextmanager
def _overlay(program: Program) -> Iterator[list[str]]:
    """Gives the options of ``go build`` that add the program's overlay to the module of its package.

    Go refuses to overlay its cache of modules, so the module is replaced by a link to its folder there.
    """
    folder = _SOURCES / program.folder
    if not program.overlay:
        yield [f"-modfile={program.modfile}"]
        return
    with tempfile.TemporaryDirectory(prefix="slipway-overlay-") as name:
        beside = Path(name)
        module = beside / "module"
        module.symlink_to(module_folder(program))
        pins = (folder / program.modfile).read_text(encoding="utf-8")
        (beside / "go.mod").write_text(f"{pins}\nreplace {program.package} => {module}\n", encoding="utf-8")
        shutil.copyfile((folder / program.modfile).with_suffix(".sum"), beside / "go.sum")
        replaced = {str(module / path): str(folder / "overlay" / own) for path, own in program.overlay.items()}
        (beside / "overlay.json").write_text(json.dumps({"Replace": replaced}), encoding="utf-8")
        yield [f"-modfile={beside / 'go.mod'}", f"-overlay={beside / 'overlay.json'}"]


def module_folder(program: Program) -> Path:
    """The folder with the sources of a program's ``package``, where that is a module; downloads it if needed.

    Raises:
        EngineMissing: there is no Go toolchain.
        EngineBroken: the module cannot be had.
    """
    go = shutil.which("go")
    if go is None:
        raise EngineMissing(program.name, "no Go toolchain on PATH")
    done = subprocess.run(
        [go, "mod", "download", f"-modfile={program.modfile}", "-json", program.package],
        cwd=_SOURCES / program.folder, env={**os.environ, **_SETTINGS}, check=False, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        raise EngineBroken(f"go mod download {program.package}: {done.stderr[-2000:]}")
    return Path(json.loads(done.stdout)["Dir"])


def _digest(program: Program) -> str:
    folder = _SOURCES / program.folder
    pins = [folder / program.modfile, (folder / program.modfile).with_suffix(".sum")]
    digest = hashlib.sha256(repr((program.tags, sorted(program.stamp.items()))).encode())
    own = folder / program.package if program.package.startswith("./") else folder
    overlay = sorted((folder / "overlay").glob("*.go")) if program.overlay else []
    for source in (*sorted(own.glob("*.go")), *overlay, *pins):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:12]
