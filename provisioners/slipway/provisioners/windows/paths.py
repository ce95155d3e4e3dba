"""Paths of Windows, where case means nothing and both slashes are one."""

from slipway.contract.grammars import is_windows_path
from slipway.sdk import RenderContext
from slipway.v1alpha1 import os_pb2 as ospb


def normal(path: str) -> str:
    """Give the path with backslashes, as every program of Windows takes it."""
    return path.replace("/", "\\")


def check_paths(system: ospb.OperatingSystem, ctx: RenderContext) -> None:
    """Refuse paths without a drive, and two items for what Windows takes for one path."""
    seen: dict[str, str] = {}
    paths = [("os.directories", index, directory.path) for index, directory in enumerate(system.directories)]
    paths += [("os.files", index, file.path) for index, file in enumerate(system.files)]
    for feature, index, path in paths:
        where = f"{feature}[{index}].path"
        if not is_windows_path(path):
            ctx.refuse(where, feature, "is no path of Windows: begin it with a drive, as in C:\\")
        first = seen.setdefault(normal(path).rstrip("\\").casefold(), where)
        if first != where:
            ctx.refuse(where, feature, f"is the same path as {first} on Windows, where case means nothing")
