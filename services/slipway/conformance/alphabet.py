"""Gives values at the edges of what the rules of a field allow: each sign in each place, lengths, numbers, words.

The rules are those of the descriptors. What they let stand, some author did not think of; and no list of cases has all
signs in all places.
"""

from collections.abc import Iterator
from functools import cache

from google.protobuf.descriptor import FieldDescriptor

from slipway.contract.field_plans import plan
from slipway.contract.grammars import grammars
from slipway.contract.validation import DEFAULT_MAX_BYTES
from slipway.v1alpha1 import options_pb2 as optionspb

SIGNS = (
    *"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ ", *"A0e\t\n", "\r\n", "\x7f", "ü", "\u00a0", "\u2028", "\ufeff", "\U0001f600",
    "%%", "$$", "{{", "{%", "{#", "''", '""', ": ", " #", "\\n", "u\u0308",
    ":5000",
)  # fmt: skip
"""What a document, a shell, a unit of systemd or a file system may take for something else."""

_EDGES = (0, 1, 7, 8, 127, 128, 255, 256, 1023, 4095, 32_767, 32_768, 65_535, 65_536, 2**31 - 1, 2**31, 2**32 - 1)
_LONG = 300


def texts(rules: optionspb.FieldRules, text: str, *, signs: tuple[str, ...] = SIGNS) -> Iterator[str]:
    """Give other texts of a field, of one that it has: each sign in front, in the middle and behind, and lengths.

    Where a sign may stand in all three places, there is one text with all of them.
    """
    half = len(text) // 2
    for sign in signs:
        inside = text[:half] + sign + text[half:]
        for several in ((sign + inside + sign,), (sign + inside, inside + sign), (sign + text, inside, text + sign)):
            allowed = [other for other in several if is_allowed(rules, other)]
            if allowed:
                yield from allowed
                break
    if rules.format and is_allowed(rules, text[:1]):
        yield text[:1]
    longest = min(rules.max_bytes or DEFAULT_MAX_BYTES, _LONG)
    longer = (text + "x" * (length - len(text.encode())) for length in range(longest, len(text.encode()), -1))
    yield from (other for other in [next((other for other in longer if is_allowed(rules, other)), "")] if other)


def numbers(field: FieldDescriptor) -> list[int]:
    """Give the numbers at the edges of a field: of its rules, and of what programs keep numbers in."""
    rules = rules_of(field)
    least = rules.minimum if rules.HasField("minimum") else 0
    most = rules.maximum if rules.HasField("maximum") else 2**31 - 1
    if field.cpp_type == FieldDescriptor.CPPTYPE_UINT32 and not rules.HasField("maximum"):
        most = 2**32 - 1
    return sorted({least, most, *(edge for edge in _EDGES if least <= edge <= most)})


@cache
def rules_of(field: FieldDescriptor) -> optionspb.FieldRules:
    """Give the rules that the contract states for a field."""
    return plan(field.containing_type)[field.number].rules


def is_allowed(rules: optionspb.FieldRules, text: str) -> bool:
    """Whether a text keeps the rules of a field."""
    if len(text.encode()) > (rules.max_bytes or DEFAULT_MAX_BYTES) or (rules.required and not text):
        return False
    return not rules.format or not text or grammars()[rules.format].check(text)
