"""Build hook: generates the protobuf code into build/gen and adds it to the wheel.

Generated code is not kept in git, so it can never disagree with proto/.
"""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ProtoBuildHook(BuildHookInterface[Any]):
    """Runs tools/protogen.py before every build of a wheel, editable or not."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Generate, then map every generated file to its place in the wheel."""
        if self.target_name != "wheel":
            return
        root = Path(self.root)
        # A source distribution has proto/ and tools/ beside this file; in the repository they are two folders up.
        base = root if (root / "proto").is_dir() else root.parent.parent
        sys.path.insert(0, str(base / "tools"))
        import protogen  # noqa: PLC0415  # only importable once tools/ is on the path

        out = root / "build" / "gen"
        generated = protogen.generate(root=base, out=out)
        if version != "editable":
            for path in generated:
                build_data["force_include"][str(path)] = str(path.relative_to(out))
