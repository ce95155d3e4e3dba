"""Values of the Secrets and ConfigMaps that a config refers to, as many as one machine can use.

A reference has thirty bytes and stands for a megabyte. So what is referred to is counted while it is read: the
configs of a tenant shall not fill the memory of the controller, which makes the machines of all.
"""

from collections.abc import Awaitable, Callable, Iterable

from slipway.contract.errors import BundleTooLarge, Violation
from slipway.contract.secret_references import MAX_REFERENCED_BYTES
from slipway.contract.yaml_names import person_path
from slipway.controller.secret_reader import Values
from slipway.controller.work_budget import Share

MOST_OBJECTS = 512
"""Secrets, or ConfigMaps, that one config may refer to; each is a call of the API server."""

MOST_READ_BYTES = 32 * 1024 * 1024
"""What they may hold together, also under keys to which nothing refers."""

Key = tuple[str, str]
"""Name of a Secret or ConfigMap, and a key in it."""


async def referenced_values(
    references: Iterable[tuple[str, Key]],
    read: Callable[[str], Awaitable[Values | None]],
    *,
    kind: str,
    share: Share,
) -> dict[Key, bytes]:
    """Return the values that exist, by name and key.

    Args:
        references: the field path of each reference, and what it refers to.
        read: returns all values of an object, None where it does not exist.
        kind: of the objects, for messages.
        share: takes them, at all the places that refer to them.

    Raises:
        BundleTooLarge: they are more than a machine can have, at all the places that refer to them.
        BudgetExceeded: they do not fit beside what other configs refer to.
    """
    uses: dict[str, list[tuple[str, str]]] = {}
    for path, (name, key) in references:
        uses.setdefault(name, []).append((path, key))
    values: dict[Key, bytes] = {}
    bytes_read = bytes_used = 0
    for count, name in enumerate(sorted(uses), start=1):
        first = uses[name][0][0]
        if count > MOST_OBJECTS:
            raise _too_large(first, f"{len(uses)} {kind}s are referred to, and at most {MOST_OBJECTS} are allowed")
        keys = [key for _, key in uses[name]]
        async with share.reading():
            size, used = await _used(read(name), keys)
            bytes_read += size
            places_size = sum(len(used.get(key, b"")) for key in keys)
            bytes_used += places_size
            if bytes_used > MAX_REFERENCED_BYTES:
                most = f"at most {MAX_REFERENCED_BYTES} bytes are allowed at all the places that refer to {kind}s"
                raise _too_large(first, f"{most}; with those that refer to {name} there are more")
            if bytes_read > MOST_READ_BYTES:
                most = f"the {kind}s that a spec refers to may have {MOST_READ_BYTES} bytes together"
                raise _too_large(first, f"{most}; with {name} there are more")
            share.take(places_size)
        values |= {(name, key): value for key, value in used.items()}
    return values


async def _used(reading: Awaitable[Values | None], keys: Iterable[str]) -> tuple[int, Values]:
    """Return how many bytes an object holds, and the values that are used of it; the others are not kept."""
    held = await reading or {}
    return sum(map(len, held.values())), {key: held[key] for key in keys if key in held}


def _too_large(path: str, sentence: str) -> BundleTooLarge:
    return BundleTooLarge(sentence, violations=[Violation(person_path(path), sentence)])
