"""Tokens can be made again, and are those of nobody else."""

import re
from typing import Any

from slipway.controller.tokens import derived_ticket, derived_token

SEED = bytes(range(32))


def test_a_token_has_the_form_that_kubernetes_asks_for() -> None:
    """[a-z0-9]{6}.[a-z0-9]{16}, for many configs."""
    tokens = {derived_token(SEED, config_uid=str(number), rotation=0) for number in range(500)}
    assert len(tokens) == 500
    assert all(re.fullmatch(r"[a-z0-9]{6}\.[a-z0-9]{16}", one) for one in tokens)


def test_a_token_is_the_same_again() -> None:
    """A killed controller comes to the same token: this very one, in every version."""
    assert derived_token(SEED, config_uid="u", rotation=0) == derived_token(SEED, config_uid="u", rotation=0)
    assert derived_token(SEED, config_uid="u", rotation=0) == PINNED


def test_seed_config_and_rotation_make_another_one() -> None:
    """Nothing but all three of them leads to it."""
    other = [
        derived_token(SEED[::-1], config_uid="u", rotation=0),
        derived_token(SEED, config_uid="v", rotation=0),
        derived_token(SEED, config_uid="u", rotation=1),
    ]
    assert len({PINNED, *other}) == 4


def test_characters_are_drawn_without_bias() -> None:
    """Each of 36 characters comes as often as any other, within what chance allows."""
    text = "".join(derived_token(SEED, config_uid=str(number), rotation=0) for number in range(2000)).replace(".", "")
    counts = [text.count(character) for character in "abcdefghijklmnopqrstuvwxyz0123456789"]
    mean = len(text) / 36
    assert all(abs(count - mean) < 6 * mean**0.5 for count in counts)


PINNED = "kaebeo.603uziskvuyxmv8a"


def test_a_ticket_is_that_of_one_payload() -> None:
    """Seed, config, rotation and content lead to it, the same again each time; it is no part of a token."""
    parts: dict[str, Any] = {"config_uid": "u", "rotation": 0, "digest": "ab" * 32}
    tickets = [
        derived_ticket(SEED, **parts),
        derived_ticket(SEED[::-1], **parts),
        derived_ticket(SEED, **{**parts, "config_uid": "v"}),
        derived_ticket(SEED, **{**parts, "rotation": 1}),
        derived_ticket(SEED, **{**parts, "digest": "cd" * 32}),
    ]
    assert len(set(tickets)) == len(tickets)
    assert tickets[0] == derived_ticket(SEED, **parts)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{43}", ticket) for ticket in tickets)
