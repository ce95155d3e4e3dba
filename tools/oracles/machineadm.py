"""The node agent, built and kept as an engine is, so that tests can run what a machine would run.

``python -m tools.oracles.machineadm FOLDER`` builds it for every platform: static, and the same bytes wherever it is
built by the same Go.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

from tools.oracles import cache
from tools.oracles.failures import EngineBroken, EngineMissing

NAME = "machineadm"
PLATFORMS = ("linux/amd64", "linux/arm64", "windows/amd64")
MOST_BYTES = 8 << 20

_ROOT = Path(__file__).resolve().parents[2]
SOURCE = _ROOT / "machineadm"
_TIMEOUT = 900.0


def file_name(platform: str) -> str:
    """Give the name of the binary of a platform."""
    return f"{NAME}-{platform.replace('/', '-')}{'.exe' if platform.startswith('windows/') else ''}"


def path() -> Path:
    """Where this machine's binary is, or will be; the name changes with the sources."""
    digest = hashlib.sha256(_version().encode())
    for source in sorted(
        entry for entry in SOURCE.rglob("*") if entry.is_file() and not entry.name.endswith("_test.go")
    ):
        digest.update(f"{source.relative_to(SOURCE)} ".encode() + source.read_bytes())
    return cache.directory() / "bin" / f"{NAME}-{digest.hexdigest()[:12]}"


def require() -> Path:
    """Give the binary's path.

    Raises:
        EngineMissing: it was not built yet.
    """
    if not path().is_file():
        raise EngineMissing(NAME)
    return path()


def build() -> Path:
    """Build it for this machine unless it is there; half a minute when the Go build cache is cold."""
    with cache.locked(NAME):
        target = path()
        if not target.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            beside = target.with_name(f".{target.name}.building")
            compile_for("", beside)
            beside.rename(target)
    return target


def compile_for(platform: str, target: Path, *, source: Path = SOURCE) -> None:
    """Build it for a platform, or for this machine where none is named.

    Raises:
        EngineMissing: there is no Go toolchain.
        EngineBroken: it does not build; the text is the compiler's.
    """
    system, _, architecture = platform.partition("/")
    environment = {"GOOS": system, "GOARCH": architecture, "GOAMD64": "v1", "GOARM64": "v8.0"} if platform else {}
    options = ["-ldflags", f"-s -w -buildid= -X main.version={_version()}", "-o", str(target)]
    go(source, "build", *options, ".", environment=environment)


def go(folder: Path, *arguments: str, program: str = "go", environment: dict[str, str] | None = None) -> str:
    """Run the Go toolchain, or its ``gofmt``, without anything of this machine that could get into a binary.

    Raises:
        EngineMissing: there is no toolchain.
        EngineBroken: it failed; the text is its own.
    """
    toolchain = shutil.which(program)
    if toolchain is None:
        raise EngineMissing(NAME, "no Go toolchain on PATH")
    fixed = {
        "GOFLAGS": "-trimpath -buildvcs=false -mod=readonly", "CGO_ENABLED": "0", "GOWORK": "off",
        "GOTOOLCHAIN": "local", "GOEXPERIMENT": "", "GOFIPS140": "off",
    }  # fmt: skip
    try:
        done = subprocess.run(
            ["nice", toolchain, *arguments],
            cwd=folder, env={**os.environ, **fixed, **(environment or {})}, check=False, capture_output=True, text=True,
            timeout=_TIMEOUT,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise EngineBroken(f"{program} {arguments[0]} has not ended after {_TIMEOUT:.0f} seconds: try again") from None
    if done.returncode:
        raise EngineBroken(f"{program} {' '.join(arguments)}: {(done.stdout + done.stderr)[-4000:]}")
    return done.stdout


def _version() -> str:
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return str(project["project"]["version"])


def main(arguments: Sequence[str]) -> int:
    """Build all platforms into a folder; 2 for another number of arguments than one."""
    if len(arguments) != 1:
        print("usage: python -m tools.oracles.machineadm FOLDER", file=sys.stderr)
        return 2
    folder = Path(arguments[0]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for platform in PLATFORMS:
        target = folder / file_name(platform)
        compile_for(platform, target)
        print(f"{target}: {target.stat().st_size} bytes, sha256:{hashlib.sha256(target.read_bytes()).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
