"""Builds a base image from Debian's packages, where no registry of images is at hand, and the image on it."""

import os
import subprocess
import tempfile
from pathlib import Path

from tools.image.podman import podman
from tools.oracles.failures import EngineBroken
from tools.oracles.roots import install_packages

ROOT = Path(__file__).parents[2]
IMAGE = "localhost/slipway:latest"
SUITES = ("trixie", "bookworm")
"""Debian releases to build on: Python 3.13 and 3.11."""

_PYTHON = "python3,python3-venv,python3-pip,ca-certificates"
_LEFT_OUT = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*", "/var/cache/apt/*.bin")
_TRUST = Path("/etc/ssl/certs")


def base(suite: str) -> str:
    """Give a base image of a Debian release; it is made once, in a minute.

    Raises:
        EngineBroken: the packages could not be had.
    """
    name = f"localhost/slipway-base:{suite}"
    if podman("images", "-q", name).strip():
        return name
    install_packages(("mmdebstrap",))
    with tempfile.TemporaryDirectory(prefix="slipway-base-") as folder:
        archive = Path(folder) / "base.tar"
        without = [f"--dpkgopt=path-exclude={pattern}" for pattern in _LEFT_OUT]
        command = ["mmdebstrap", "--variant=minbase", f"--include={_PYTHON}", *without, suite, str(archive)]
        done = subprocess.run(["nice", *command], check=False, capture_output=True, text=True)
        if done.returncode:
            raise EngineBroken(f"mmdebstrap {suite}: {done.stderr[-2000:]}")
        podman("import", str(archive), name)
    return name


def by_digest(name: str) -> str:
    """Return the reference of a local image by its digest, which no later build can change."""
    repository, _, _ = name.rpartition(":")
    return f"{repository}@{podman('image', 'inspect', '--format', '{{.Digest}}', name).strip()}"


def build(base_image: str, *, name: str = IMAGE) -> str:
    """Build the image from this checkout on a base image given by digest; give its name.

    Raises:
        EngineBroken: the build failed.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as pip_settings:
        pip_settings.write(_pip_settings())
        pip_settings.flush()
        podman(
            "build", "--runtime", "runc", "--isolation", "chroot", "--network", "host",
            # Only for the build: neither ends up in the image.
            "--volume", f"{_TRUST}:{_TRUST}:ro", "--volume", f"{pip_settings.name}:/etc/pip.conf:ro",
            "--build-arg", f"BASE={base_image}", "--file", str(ROOT / "deploy" / "Dockerfile"), "--tag", name,
            str(ROOT),
        )  # fmt: skip
    return name


def megabytes(name: str) -> float:
    """Give the size of an image in MB (10^6 bytes)."""
    return int(podman("image", "inspect", "--format", "{{.Size}}", name)) / 1e6


def _pip_settings() -> str:
    """Let pip in the build ask whom pip on this machine asks, and trust whom it trusts."""
    lines = ["[global]", f"cert = {_TRUST / 'ca-certificates.crt'}"]
    if "PIP_INDEX_URL" in os.environ:
        lines.append(f"index-url = {os.environ['PIP_INDEX_URL']}")
    return "\n".join([*lines, ""])
