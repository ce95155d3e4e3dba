"""YAML that Go's reader and ours understand alike.

PyYAML follows YAML 1.1 and Talos reads YAML 1.2, so a bare word may change its type on the way. Every text that
is not plainly a word is therefore quoted. Numbers in a user's own patch keep the user's own spelling.
"""

import re
from collections.abc import Iterable
from typing import Any

import yaml

from slipway.contract.source_position import SourceError
from slipway.contract.yaml_limits import SHORT, Limits
from slipway.contract.yaml_scalars import plain_value
from slipway.contract.yaml_source import load_documents

_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
WRITTEN = Limits()
"""What a configuration may hold that was written here."""

_WORD = re.compile(r"[A-Za-z_/][A-Za-z0-9_./@+=-]*(:[A-Za-z0-9_./@+=-]+)*+")
_BLOCK = re.compile(r"(?:[!-~][ -~]*|)(?:\n(?: *[!-~][ -~]*|)(?=\n))*+\n")
_GO_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})


class Spelling(str):
    """A bare scalar whose type only the reader knows, e.g. `1.10`; it is written back as it was spelt."""

    __slots__ = ()


class _Dumper(_DUMPER):  # type: ignore[misc]  # the base is chosen at import
    def ignore_aliases(self, _data: Any) -> bool:
        return True


def _text(_dumper: Any, value: str) -> yaml.ScalarNode:
    if _WORD.fullmatch(value) and value.lower() not in _GO_WORDS:
        style = None
    elif len(value) > 1 and _BLOCK.fullmatch(value) and not _ends_blank(value):
        style = "|"
    else:
        style = '"'
    return yaml.ScalarNode("tag:yaml.org,2002:str", value, style=style)


def _ends_blank(value: str) -> bool:
    return any(line != line.rstrip(" ") for line in value.split("\n")) or value.endswith("\n\n") or value[0] == "\n"


def _spelling(dumper: Any, value: Spelling) -> yaml.ScalarNode:
    return yaml.ScalarNode(dumper.resolve(yaml.ScalarNode, str(value), (True, False)), str(value))


_Dumper.add_representer(str, _text)
_Dumper.add_representer(Spelling, _spelling)


def emit(documents: Iterable[Any]) -> bytes:
    """Give the documents as one YAML stream in ASCII, keys in the order given."""
    text = yaml.dump_all(
        documents,
        Dumper=_Dumper,
        sort_keys=False,
        default_flow_style=False,
        allow_unicode=False,
        explicit_start=True,
        width=1 << 30,
    )
    return bytes(text, "ascii")


def read_kubernetes(data: bytes, limits: Limits = WRITTEN) -> list[Any]:
    """Give the documents of a stream as Kubernetes understands them.

    Raises:
        ValueError: it is no YAML, or beyond the limits, without any of its text in the message.
    """
    return _read(data, limits, keep_spelling=False)


def read_patch(data: bytes, limits: Limits = SHORT) -> list[Any]:
    """Give the documents of a stream; bare scalars but text, true, false and null keep their spelling.

    Raises:
        ValueError: it is no YAML, or beyond the limits, without any of its text in the message.
    """
    return _read(data, limits, keep_spelling=True)


def _read(data: bytes, limits: Limits, *, keep_spelling: bool) -> list[Any]:
    try:
        text = data.decode()
        read = load_documents(text, file="", limits=limits)
        if keep_spelling:
            # Once more, for the words: what they mean was tried, as it is when the result is read back.
            read = load_documents(text, file="", scalars=_spelt, limits=SHORT)
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8") from None
    except SourceError as error:
        raise ValueError("is not YAML that can be read: " + "; ".join(p.message for p in error.problems)) from None
    return [document.value for document in read]


def _spelt(text: str, tag: str | None, plain: bool) -> str | bool | None:  # noqa: FBT001 - ScalarReader's shape
    if not plain or tag is not None:
        return text
    value = plain_value(text)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool) and text.lower() in {"true", "false"}:
        return value
    return Spelling(text)
