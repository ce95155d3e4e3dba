"""Files that are made from other sources: written where they are stale, or only named."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

Texts = Mapping[Path, str]
"""What each file must hold, by its path below the root."""


def stale(root: Path, texts: Texts) -> list[Path]:
    """Return the files that are missing, or differ from what their sources give now."""
    return [
        path
        for path, text in texts.items()
        if not (root / path).is_file() or (root / path).read_text(encoding="utf-8") != text
    ]


def write(root: Path, texts: Texts) -> list[Path]:
    """Write the files that are stale; return their paths."""
    outdated = stale(root, texts)
    for path in outdated:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(texts[path], encoding="utf-8")
    return outdated


def main(root: Path, texts: Callable[[Path], Texts]) -> int:
    """Write them; with --check only name the stale ones, and return 1 when there are any."""
    if "--check" not in sys.argv[1:]:
        for path in write(root, texts(root)):
            print(f"wrote {path}")
        return 0
    outdated = stale(root, texts(root))
    for path in outdated:
        print(f"{path} is stale: run make docs")
    return 1 if outdated else 0
