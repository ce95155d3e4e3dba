"""make conformance."""

from pathlib import Path

from tools.conformance_reports import write

if __name__ == "__main__":
    for path in write(Path(__file__).resolve().parents[2]):
        print(f"wrote {path}")
