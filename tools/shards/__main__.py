"""make check, shards, test-affected and test-all; the gate of .ci/run.

python -m tools.shards check          is the map right?
python -m tools.shards list           what is affected, and when did each shard last pass in full?
python -m tools.shards affected       build for the affected shards, run them in full, record those that pass
python -m tools.shards all            the same with every test that there is
python -m tools.shards run NAME...    the same with these shards
python -m tools.shards gate [OPTION]  what .ci/run runs: affected, always, one in rotation; records nothing
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Sequence

from tools import repository
from tools.shards import check, lock, run, selection, shard_map, tree
from tools.shards.shard_map import ROOT, ShardMap

_USAGE = 2


def main(arguments: Sequence[str]) -> int:
    """Do what is asked; 2 for what is not known."""
    the_map = shard_map.read()
    match list(arguments):
        case ["check"]:
            return _check(the_map)
        case ["list"]:
            _list(the_map)
            return 0
        case ["affected"]:
            names = selection.affected(check.digests_by_shard(the_map, ROOT), lock.read(ROOT / tree.LOCK))
            return _in_full(the_map, names, _files(the_map, names))
        case ["all"]:
            return _in_full(the_map, the_map.shards, ["tests"])
        case ["run", *names] if names and the_map.shards.keys() >= set(names):
            return _in_full(the_map, names, _files(the_map, names))
        case ["gate", *options]:
            return _gate(the_map, options)
        case _:
            print(f"{__doc__}\nshards: {', '.join(the_map.shards)}", file=sys.stderr)
            return _USAGE


def _check(the_map: ShardMap) -> int:
    wrong = list(check.problems(the_map, ROOT))
    for line in wrong:
        print(f"{shard_map.FILE}: {line}", file=sys.stderr)
    return 1 if wrong else 0


def _gate(the_map: ShardMap, options: Sequence[str]) -> int:
    digests, records = check.digests_by_shard(the_map, ROOT), lock.read(ROOT / tree.LOCK)
    due = selection.due(the_map, digests, records, repository.commit(ROOT))
    for name in the_map.shards:
        print(f"{name:20} {due.get(name, 'not affected: not run')}")
    sys.stdout.flush()
    status = run.build(the_map, due)
    if status:
        return status
    result = run.test(the_map, _files(the_map, due), options)
    _print_retries(result)
    return result.status


def _in_full(the_map: ShardMap, names: Collection[str], files: Sequence[str]) -> int:
    if not names:
        print("no shard is affected")
        return 0
    result = run.in_full(the_map, ROOT, names, files)
    _print_retries(result)
    _list(the_map)
    return result.status


def _print_retries(result: run.Result) -> None:
    print(f"\nmachines that needed a second try: {len(result.retried)}")
    for name in result.retried:
        print(f"  {name}")


def _list(the_map: ShardMap) -> None:
    records = lock.read(ROOT / tree.LOCK)
    affected = selection.affected(check.digests_by_shard(the_map, ROOT), records)
    print(f"{'shard':20} {'last in full':12} {'seconds':>7}  state")
    for name, shard in the_map.shards.items():
        record = records.get(name)
        passed, seconds = (record.passed.isoformat(), str(record.seconds)) if record else ("never", "")
        state = "affected" if name in affected else "not affected"
        print(f"{name:20} {passed:12} {seconds:>7}  {state}{', always in the gate' if shard.always else ''}")


def _files(the_map: ShardMap, names: Iterable[str]) -> list[str]:
    tracked = tree.files(ROOT)
    return [path for name in names for path in the_map.tests_of(name, tracked)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
