"""Generate the Python code of proto/ into sdk/python/build/gen.

Used by the build hook and by ``make proto``. It stands alone (no import from this project), because the build
environment holds nothing but the generators.
"""

import importlib.util
import runpy
import shutil
import sys
from pathlib import Path

STATUS_DETAILS = ("google/rpc/error_details.proto", "google/rpc/status.proto")
"""What a status of the contract carries. No file of the contract imports it, for it travels inside `Any`."""


def generate(*, root: Path, out: Path) -> list[Path]:
    """Generate messages, services and type stubs into `out`; give the files that were written.

    `root` is the folder that holds proto/ and tools/.

    Raises:
        RuntimeError: protoc refused a file; its own message is on standard error.
    """
    import grpc_tools  # noqa: PLC0415  # only present where code is generated
    from grpc_tools import protoc  # noqa: PLC0415  # only the build has it

    shutil.rmtree(out / "slipway", ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
    sources = sorted(str(path.relative_to(root / "proto")) for path in (root / "proto").rglob("*.proto"))
    plugins = Path(sys.executable).parent
    folders = [f"-I{root / 'proto'}", f"-I{Path(grpc_tools.__file__).parent / '_proto'}"]
    status = protoc.main(
        [
            "protoc",
            *folders,
            f"--plugin=protoc-gen-mypy={_plugin('protoc-gen-mypy', plugins)}",
            f"--plugin=protoc-gen-mypy_grpc={_plugin('protoc-gen-mypy_grpc', plugins)}",
            f"--python_out={out}",
            f"--grpc_python_out={out}",
            f"--mypy_out={out}",
            f"--mypy_grpc_out={out}",
            *sources,
        ]
    )
    status = status or protoc.main(
        [
            "protoc",
            *folders,
            f"-I{_root_of('google.rpc.status_pb2')}",
            f"--descriptor_set_out={out / 'slipway.binpb'}",
            "--include_imports",
            "--include_source_info",
            *sources,
            *STATUS_DETAILS,
        ]
    )
    if status != 0:
        raise RuntimeError("protoc failed")
    for folder in {Path(source).parent for source in sources}:
        # Not above: `slipway` is a namespace package of several distributions.
        (out / folder / "__init__.py").touch()
        (out / folder / "py.typed").touch()
    (out / "slipway.binpb").rename(out / "slipway" / "v1alpha1" / "slipway.binpb")
    # By path, because neither the build hook nor a script has this folder as a package.
    runpy.run_path(str(root / "tools" / "errorgen.py"))["generate"](root=root, out=out)
    return sorted(path for path in (out / "slipway").rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def _root_of(module: str) -> Path:
    """Give the folder of the installed package that a module is in; its proto files lie beside it."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise RuntimeError(f"{module} is not installed: pip install googleapis-common-protos")
    return Path(spec.origin).parents[module.count(".")]


def _plugin(name: str, folder: Path) -> str:
    program = folder / name
    return str(program) if program.exists() else (shutil.which(name) or name)


if __name__ == "__main__":
    base = Path(__file__).resolve().parent.parent
    generate(root=base, out=base / "sdk" / "python" / "build" / "gen")
    runpy.run_path(str(base / "tools" / "errorgen.py"))["write_classes"](root=base)
