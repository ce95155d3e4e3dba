"""A gate runs what is due, and only a run in full that passed is recorded."""

import datetime as dt

import pytest

from tools.shards import lock, run, selection, shard_map

RECORD = lock.Record("abc", dt.date(2026, 5, 4), 12)
MAP = shard_map.ShardMap(
    {
        name: shard_map.Shard(name, (f"tests/{name}",), (), always=name == "first")
        for name in ("first", "second", "third", "fourth")
    },
    ("tests/quick",),
)
DIGESTS = dict.fromkeys(MAP.shards, "abc")
RECORDS = dict.fromkeys(MAP.shards, RECORD)


@pytest.mark.parametrize(
    ("records", "commit", "due", "reason"),
    [
        ({}, "0", dict.fromkeys(MAP.shards, "affected"), "a clone without a record"),
        (RECORDS, "0", {"first": "always", "second": "in rotation"}, "nothing has changed"),
        (RECORDS, "5", {"first": "always", "fourth": "in rotation"}, "at another commit it is another's turn"),
        (
            {**RECORDS, "second": lock.Record("old", RECORD.passed, 1)},
            "0",
            {"first": "always", "second": "affected", "third": "in rotation"},
            "one has changed",
        ),
        (
            {name: RECORD for name in MAP.shards if name != "third"},
            "1",
            {"first": "always", "third": "affected", "fourth": "in rotation"},
            "a new one",
        ),
    ],
)
def test_what_is_due(records, commit, due, reason):
    """Affected, always, and one in rotation that is none of them."""
    assert selection.due(MAP, DIGESTS, records, commit) == due, reason


def test_every_shard_has_its_turn():
    """Of many commits each shard gets about its share."""
    names = ["a", "b", "c"]
    turns = [selection.turn(names, f"{number:x}") for number in range(30)]
    assert {name: turns.count(name) for name in names} == {"a": 10, "b": 10, "c": 10}


def test_lock(tmp_path):
    """What is written is read again; no file is no record."""
    file = tmp_path / "lock"
    assert lock.read(file) == {}
    lock.write(file, RECORDS)
    assert lock.read(file) == RECORDS


@pytest.mark.parametrize("text", ["<<<<<<< ours\n[a]\n", "[a]\ninputs = 'x'\n", "[a]\n[a]\n", "a = 1\n"])
def test_a_lock_that_cannot_be_read(tmp_path, text):
    """It says what to do, and is not taken for a record."""
    file = tmp_path / "lock"
    file.write_text(text)
    with pytest.raises(lock.LockError, match="remove it"):
        lock.read(file)


def outcome(outcome="passed", seconds=1.0, reruns=0):
    return {"outcome": outcome, "seconds": seconds, "reruns": reruns}


@pytest.mark.parametrize(
    ("outcomes", "status", "passed", "reason"),
    [
        ({"tests/first/test_a.py::test": outcome()}, 0, {"first": 1}, "passed"),
        ({"tests/first/test_a.py::a": outcome(), "tests/first/test_a.py::b": outcome()}, 0, {"first": 2}, "two"),
        ({"tests/first/test_a.py::a": outcome(), "tests/first/test_b.py::b": outcome("failed")}, 1, {}, "one failed"),
        (
            {"tests/first/test_a.py::a": outcome("failed"), "tests/second/test_a.py::a": outcome(seconds=3)},
            1,
            {"second": 3},
            "another shard failed",
        ),
        ({"tests/quick/test_a.py::a": outcome()}, 0, {}, "belongs to no shard"),
        ({"tests/first/test_a.py::test": outcome()}, 2, {}, "interrupted"),
        ({"tests/first/test_a.py::test": outcome()}, 1, {}, "failed for a reason that no test tells"),
        ({}, 4, {}, "never began"),
    ],
)
def test_which_shards_passed(outcomes, status, passed, reason):
    """A failure, or an end before the end, is no record."""
    assert run.evaluate(MAP, outcomes, status).seconds == passed, reason


def test_second_tries_are_counted():
    """A machine that needed a second try is named."""
    outcomes = {"tests/first/test_a.py::a": outcome(reruns=1), "tests/first/test_a.py::b": outcome()}
    assert run.evaluate(MAP, outcomes, 0).retried == ["tests/first/test_a.py::a"]
