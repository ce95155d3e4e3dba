"""make check: words that the project does not use may only become fewer.

python -m tools.words check          does any count rise, or can it be lowered?
python -m tools.words lower          write the lower counts; refused where one rises
python -m tools.words list [PATH...] every place, with the words to use instead
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from tools.repository import ROOT
from tools.words import counts, word_list

_USAGE = 2


def main(arguments: Sequence[str], root: Path = ROOT) -> int:
    """Run the command; 1 for problems, 2 for a usage error."""
    match list(arguments):
        case ["check"]:
            return _report(counts.problems(_count(root), counts.read(root)))
        case ["lower"]:
            return _lower(root)
        case ["list", *paths]:
            for path, match in counts.places(root, word_list.read(root)):
                if not paths or path.startswith(tuple(paths)):
                    print(f"{path}:{match.line}: {match.kind}: {match.word!r}: {match.instead}")
            return 0
        case _:
            print(__doc__, file=sys.stderr)
            return _USAGE


def _lower(root: Path) -> int:
    now, allowed = _count(root), counts.read(root)
    higher = {key: allowed.get(key, 0) for key, number in now.items() if number > allowed.get(key, 0)}
    if higher:
        return _report(counts.problems({key: now[key] for key in higher}, higher))
    (root / counts.FILE).write_text(counts.render(now), encoding="utf-8")
    return 0


def _count(root: Path) -> counts.Counts:
    return counts.count(counts.places(root, word_list.read(root)))


def _report(problems: Iterable[str]) -> int:
    lines = list(problems)
    for line in lines:
        print(line, file=sys.stderr)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
