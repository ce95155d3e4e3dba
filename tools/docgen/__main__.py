"""Write docs/reference, or tell with --check which pages are stale."""

import sys
from pathlib import Path

from tools.docgen.pages import stale, write

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Do it; 1 when --check finds a stale page."""
    if "--check" not in sys.argv[1:]:
        for path in write(ROOT):
            print(f"wrote {path}")
        return 0
    outdated = stale(ROOT)
    for path in outdated:
        print(f"{path} is stale: run make docs")
    return 1 if outdated else 0


if __name__ == "__main__":
    sys.exit(main())
