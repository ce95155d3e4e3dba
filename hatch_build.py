"""Build hook: generates the protobuf code into build/gen and adds it to the wheel.

Generated code is not kept in git, so it can never disagree with proto/.
"""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ProtoBuildHook(BuildHookInterface[Any]):
    """Runs tools/protogen.py before every build, editable or not."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Generate, then map every generated file to its place in the wheel."""
        root = Path(self.root)
        sys.path.insert(0, str(root / "tools"))
        import protogen  # noqa: PLC0415  # only importable once tools/ is on the path

        generated = protogen.generate(root=root)
        if self.target_name == "wheel" and version != "editable":
            base = root / "build" / "gen"
            for path in generated:
                build_data["force_include"][str(path)] = str(path.relative_to(base))
