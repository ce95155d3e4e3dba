"""JSON of strangers takes no more memory than its reader allows."""

import json
import tracemalloc

import pytest

from slipway.contract.bounded_json import TooManyValuesError, read_json

CHAIN = b'{"":' * 900 + b"1" + b"}" * 900
ATTACKS = {
    "objects": b"[" + b"{}," * 2_000_000 + b"1]",
    "chains": b"[" + b",".join([CHAIN] * 1800) + b"]",
    "texts with signs": b"[" + b'{",":"["},' * 800_000 + b"1]",
    "lists": b"[" + b"[0]," * 2_000_000 + b"1]",
    "numbers": b"[" + b"1.5," * 2_000_000 + b"1]",
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_would_take_all_memory_is_not_read(attack: str) -> None:
    """Eight megabytes of small values are refused with hardly any memory: most of them are not read."""
    data = ATTACKS[attack]
    tracemalloc.start()
    try:
        with pytest.raises(TooManyValuesError, match="more than 100000 values"):
            read_json(data, most_values=100_000)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_signs_within_texts_do_not_count() -> None:
    """A script has many commas and brackets, and is one value."""
    tree = {"a": ",[{" * 1000, 'b"\\': ['\\",', 1]}
    assert read_json(json.dumps(tree).encode(), most_values=5) == tree
    with pytest.raises(TooManyValuesError):
        read_json(json.dumps(tree).encode(), most_values=4)


@pytest.mark.parametrize("data", [b"", b"[", b"[" * 100_000, b'"', b'"\\', b'"' + b'\\"' * 500_000, b"\xff", b"{1}"])
def test_what_is_not_json_is_one_kind_of_error(data: bytes) -> None:
    """Nesting beyond the stack included, so that no reader forgets it."""
    with pytest.raises(ValueError, match=r".") as caught:
        read_json(data, most_values=200_000)
    assert not isinstance(caught.value, TooManyValuesError)
