"""Makes programs of edited sources: a copy of the Python package, and a build of the Go example with another file."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from tests.services.conformance.edits.edit import Edit
from tools.oracles.go_examples import EXAMPLES

_ROOT = Path(__file__).resolve().parents[4]
_PROVISIONERS = _ROOT / "provisioners" / "slipway" / "provisioners"
_EXAMPLES = _ROOT / "examples"
_CLASSES = {
    "ignition": ("render", "IgnitionProvisioner"),
    "cloud_init": ("render", "CloudInit"),
    "talos": ("provisioner", "TalosProvisioner"),
    "windows": ("provisioner", "WindowsProvisioner"),
}
"""Those of ours in Python: module and class."""

_LATER = ("_again", "_third", "_fifth", "_sixth", "_tenth", "_eleventh", "_twelfth", "_thirteenth", "_fourteenth")
"""What the name of a later round has behind that of its provisioner."""

_OF_SDK = "sdk/"
_MAIN = """\
from edited.{module} import {name}
from slipway.sdk.command import run

run({name}())
"""


def program(name: str, edit: Edit, folder: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give the command that starts a provisioner with an edit in it, and that of its decoder, if it has its own.

    Raises:
        EngineMissing: it is the example in Go, which was never built here.
    """
    for later in _LATER:
        name = name.removesuffix(later)
    if name in _CLASSES:
        return python(name, edit, folder), ()
    make, example = {"bottlerocket": (go, "provisioner-go"), "shell": (shell, "provisioner-shell")}[name]
    return make(edit, folder), (sys.executable, str(_EXAMPLES / example / "decode.py"))


def python(name: str, edit: Edit, folder: Path) -> tuple[str, ...]:
    """Give the command that starts one of our provisioners with an edit in it; its package is copied to a folder."""
    package = folder / "edited"
    shutil.copytree(_PROVISIONERS / name, package, ignore=shutil.ignore_patterns("__pycache__"))
    for source in package.glob("*.py"):
        text = source.read_text(encoding="utf-8")
        text = edit.applied(text) if source.name == edit.file else text
        own = text.replace(f"slipway.provisioners.{name}.", "edited.")
        own = own.replace(f"from slipway.provisioners.{name} import", "from edited import")
        source.write_text(own, encoding="utf-8")
    module, provisioner = _CLASSES[name]
    main = folder / "main.py"
    main.write_text(_MAIN.format(module=module, name=provisioner), encoding="utf-8")
    return sys.executable, str(main)


def shell(edit: Edit, folder: Path) -> tuple[str, ...]:
    """Give the command that starts the example in shell and awk with an edit in it."""
    source = _EXAMPLES / "provisioner-shell" / edit.file
    edited = folder / edit.file
    edited.write_text(edit.applied(source.read_text(encoding="utf-8")), encoding="utf-8")
    edited.chmod(0o755)
    return sys.executable, "-m", "slipway.cli", "provisioner", "serve", "--exec", shlex.quote(str(edited))


def go(edit: Edit, folder: Path) -> tuple[str, ...]:
    """Build the example in Go with an edit in it, and give the command that starts it.

    Raises:
        EngineMissing: the example was never built here, so its generated code is missing.
    """
    example = EXAMPLES["provisioner-go"]
    example.require()
    sdk, own = example.modules()
    source = sdk / "provisioner" / edit.file.removeprefix(_OF_SDK) if edit.file.startswith(_OF_SDK) else own / edit.file
    edited, overlay, program = folder / source.name, folder / "overlay.json", folder / "provisioner"
    edited.write_text(edit.applied(source.read_text(encoding="utf-8")), encoding="utf-8")
    overlay.write_text(json.dumps({"Replace": {str(source): str(edited)}}), encoding="utf-8")
    toolchain = shutil.which("go") or "go"
    environment = {**os.environ, "GOFLAGS": "-trimpath -buildvcs=false -mod=readonly", "CGO_ENABLED": "0"}
    command = [toolchain, "build", "-overlay", str(overlay), "-ldflags=-s -w", "-o", str(program), "."]
    done = subprocess.run(command, cwd=own, env=environment, check=False, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise AssertionError(done.stderr[-2000:])
    return (str(program),)
