"""What the demo observed, and what of it was not as it should be."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(slots=True)
class Findings:
    """Observations by name, and sentences on what was not as told."""

    observed: dict[str, Any] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def note(self, name: str, value: Any) -> None:
        """Keep an observation."""
        self.observed[name] = value

    def expect(self, holds: bool, otherwise: str) -> None:  # noqa: FBT001  # it reads as a sentence
        """Keep a sentence when something does not hold."""
        if not holds:
            self.wrong.append(otherwise)

    def write(self, path: Path) -> None:
        """Write everything as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**self.observed, "not_as_told": self.wrong}, indent=2) + "\n")
