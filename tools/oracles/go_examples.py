"""The examples in Go: generated, built and kept as an engine is, so that tests can run what a stranger would build.

They live in ``examples/`` and import code that is generated from ``proto/``, so they are built in a copy of both. The
copy stays beside the binaries: their own tests run there.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from tools.oracles import cache
from tools.oracles.failures import EngineBroken, EngineMissing

_ROOT = Path(__file__).resolve().parents[2]
_SDK = _ROOT / "sdk" / "go"
_TIMEOUT = 900.0


@dataclasses.dataclass(frozen=True, slots=True)
class Example:
    """One program; ``folder`` is its module below ``examples/``."""

    name: str
    folder: str

    @property
    def place(self) -> Path:
        """The folder with the copied modules and the binary; the name changes with the sources and the contract."""
        return cache.directory() / f"{self.name}-{_digest(self)}"

    @property
    def path(self) -> Path:
        """Where the binary is, or will be."""
        return self.place / "bin" / self.name

    def require(self) -> Path:
        """The binary's path.

        Raises:
            EngineMissing: it was not built yet.
        """
        if not self.path.is_file():
            raise EngineMissing(self.name)
        return self.path

    def modules(self) -> list[Path]:
        """The folders of the copied modules, with the generated code in them."""
        return [self.place / "sdk" / "go", self.place / "examples" / self.folder]


EXAMPLES = {name: Example(name, name) for name in ("provisioner-go", "client-go", "bootstrap-provider-go")}


def build_example(example: Example) -> Path:
    """Builds the example unless it is there, as its README says; a minute when the Go build cache is cold."""
    with cache.locked(example.name):
        if example.path.is_file():
            return example.path
        for old in cache.directory().glob(f"{example.name}-????????????"):
            cache.discard(old)
        with cache.being_built(example.place) as beside:
            for source in _sources(example):
                copy = beside / source.relative_to(_ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, copy)
            sdk, own = beside / "sdk" / "go", beside / "examples" / example.folder
            go(sdk, "generate", ".")
            go(own, "work", "init", ".", os.path.relpath(sdk, own))
            go(own, "build", "-ldflags=-s -w", "-o", str(beside / "bin" / example.name), ".")
    return example.path


def go(folder: Path, *arguments: str, program: str = "go") -> str:
    """Runs the Go toolchain, or its ``gofmt``, in a module; gives what it printed.

    Raises:
        EngineMissing: there is no toolchain.
        EngineBroken: it failed; the text is its own.
    """
    toolchain = shutil.which(program)
    if toolchain is None:
        raise EngineMissing(program, "no Go toolchain on PATH")
    environment = {**os.environ, "GOFLAGS": "-trimpath -buildvcs=false -mod=readonly", "CGO_ENABLED": "0"}
    done = subprocess.run(
        ["nice", toolchain, *arguments],
        cwd=folder, env=environment, check=False, capture_output=True, text=True, timeout=_TIMEOUT,
    )  # fmt: skip
    if done.returncode:
        raise EngineBroken(f"{program} {' '.join(arguments)}: {(done.stdout + done.stderr)[-4000:]}")
    return done.stdout


def _digest(example: Example) -> str:
    digest = hashlib.sha256()
    for source in _sources(example):
        digest.update(f"{source.relative_to(_ROOT)} ".encode() + source.read_bytes())
    return digest.hexdigest()[:12]


def _sources(example: Example) -> list[Path]:
    """All that the build reads: the contract, the generator, and the program; not what was generated beside them."""
    paths = [*(_ROOT / "proto" / "slipway" / "v1alpha1").glob("*.proto")]
    for module in (_SDK, _ROOT / "examples" / example.folder):
        paths += [
            path
            for path in module.rglob("*")
            if path.suffix in {".go", ".mod", ".sum"} and path.relative_to(module).parts[0] != "slipway"
        ]
    return sorted(paths)
