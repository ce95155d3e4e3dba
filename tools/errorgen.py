"""Generate the page, the enum and the exceptions of the error table, proto/slipway/v1alpha1/errors.yaml.

One table, so that code, documentation and the words of the contract cannot drift apart. Like protogen it
stands alone: the build environment holds nothing of this project.
"""

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TABLE = Path("proto/slipway/v1alpha1/errors.yaml")
PAGE = Path("docs/reference/errors.md")
MODULE = Path("slipway/v1alpha1/reasons.py")
CLASSES = Path("sdk/python/slipway/contract/errors.py")
_WIDTH = 120

# In the order of their numbers, google/rpc/code.proto.
CODES = (
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
)

INTRODUCTION = """\
A failed call ends with a gRPC status that carries `google.rpc.ErrorInfo` with domain `slipway.dev` and one of
the reasons below; `BadRequest` names fields (20 at most) and `RetryInfo` the time to wait. The serialised
status is never larger than 4 KiB. A status without `ErrorInfo` comes from the transport (gRPC itself or a
proxy), not from Slipway.

*Retry* says whether the same request may succeed after a while without anybody changing it."""


def load(root: Path) -> dict[str, Any]:
    """Read and check the table.

    Raises:
        ValueError: the table breaks one of its own rules; the text names the reason.
    """
    import yaml  # noqa: PLC0415  # only needed where code is generated

    table: dict[str, Any] = yaml.safe_load((root / TABLE).read_text(encoding="utf-8"))
    for reason, rule in table["reasons"].items():
        rule.setdefault("metadata", {})
        if not re.fullmatch(r"[A-Z][A-Z0-9_]{0,61}[A-Z0-9]", reason):
            raise ValueError(f"{reason}: not UPPER_SNAKE_CASE of at most 63 characters (AIP-193)")
        if set(rule) != {"code", "meaning", "recovery", "retryable", "metadata"}:
            raise ValueError(f"{reason}: needs code, meaning, recovery and retryable, and may have metadata")
        if rule["code"] not in CODES[1:]:
            raise ValueError(f"{reason}: not a canonical error code")
    return table


def page(table: Mapping[str, Any]) -> str:
    """Give docs/reference/errors.md."""
    reasons = table["reasons"]
    lines = [
        "# Errors",
        "",
        f"<!-- Generated from {TABLE} by tools/errorgen.py; do not edit. -->",
        "",
        INTRODUCTION,
        "",
        "| Reason | Code | Retry | Meaning |",
        "|---|---|---|---|",
    ]
    for reason, rule in sorted(reasons.items()):
        link = f"[`{reason}`](#{reason.lower()})"
        lines.append(f"| {link} | {rule['code']} | {_yes(rule['retryable'])} | {rule['meaning']} |")
    lines += ["", "Metadata that any reason may carry:", "", *_keys(table["common_metadata"])]
    for reason, rule in sorted(reasons.items()):
        lines += [
            "",
            f"## {reason}",
            "",
            f"{rule['code']}. {rule['meaning']}",
            "",
            f"**Caller:** {rule['recovery']}",
        ]
        if rule["metadata"]:
            lines += ["", *_keys(rule["metadata"])]
    return "\n".join(lines) + "\n"


def module(table: Mapping[str, Any]) -> str:
    """Give slipway/v1alpha1/reasons.py."""
    lines = [
        f'"""Reasons of the error table. Generated from {TABLE}; do not edit."""',
        "",
        "from collections.abc import Mapping",
        "from dataclasses import dataclass",
        "from enum import IntEnum, StrEnum",
        "from types import MappingProxyType",
        "",
        f"DOMAIN = {table['domain']!r}",
        f"COMMON_METADATA = frozenset({sorted(table['common_metadata'])!r})",
        "",
        "",
        "class Code(IntEnum):",
        '    """Canonical gRPC status codes (google/rpc/code.proto)."""',
        "",
        *(f"    {name} = {number}" for number, name in enumerate(CODES)),
        "",
        "",
        "class Reason(StrEnum):",
        '    """Why a call failed: ErrorInfo.reason in the domain slipway.dev."""',
        "",
    ]
    for reason, rule in table["reasons"].items():
        lines += [f"    {reason} = {reason!r}", f'    """{rule["meaning"]}"""']
    lines += [
        "",
        "",
        "@dataclass(frozen=True, slots=True)",
        "class Rule:",
        '    """What the table says of one reason."""',
        "",
        "    code: Code",
        "    meaning: str",
        "    recovery: str",
        "    retryable: bool",
        "    metadata: frozenset[str]",
        "",
        "",
        "RULES: Mapping[Reason, Rule] = MappingProxyType(",
        "    {",
    ]
    for reason, rule in table["reasons"].items():
        lines += [
            f"        Reason.{reason}: Rule(",
            f"            code=Code.{rule['code']},",
            f"            meaning={rule['meaning']!r},",
            f"            recovery={rule['recovery']!r},",
            f"            retryable={rule['retryable']!r},",
            f"            metadata=frozenset({sorted(rule['metadata'])!r}),",
            "        ),",
        ]
    return "\n".join([*lines, "    }", ")"]) + "\n"


def classes(table: Mapping[str, Any]) -> str:
    """Give slipway/contract/errors.py: a class for each reason, below that of its code where several share it."""
    groups = table["groups"]
    members: dict[str, list[str]] = {code: [] for code in groups}
    alone: list[str] = []
    for reason, rule in table["reasons"].items():
        members.get(rule["code"], alone).append(reason)
    tree = ["SlipwayError"]
    for code, group in groups.items():
        tree.append(f"├── {group['name']} ({code})")
        branches = [*("├── " for _ in members[code][1:]), "└── "]
        tree += [f"│   {branch}{_class(reason)}" for branch, reason in zip(branches, members[code], strict=True)]
    tree += [f"├── {_class(reason)} ({table['reasons'][reason]['code']})" for reason in alone]
    tree.append("└── ForeignStatus (any code: the transport's, or a reason newer than this code)")
    lines = [
        '"""The exceptions of the error table. Generated from proto/slipway/v1alpha1/errors.yaml; do not edit.',
        "",
        *tree,
        '"""',
        "",
        "# ruff: noqa: N818, PLC0414  # the names of the contract's reasons, and what else an importer of errors needs",
        "",
        "from slipway.contract.slipway_error import ForeignStatus as ForeignStatus",
        "from slipway.contract.slipway_error import SlipwayError as SlipwayError",
        "from slipway.contract.slipway_error import Violation as Violation",
        "from slipway.contract.slipway_error import error_class as error_class",
        "from slipway.v1alpha1.reasons import Reason",
    ]
    for code, group in groups.items():
        lines += ["", "", f"class {group['name']}(SlipwayError):", f'    """{group["meaning"]}"""']
        for reason in members[code]:
            lines += _exception(reason, group["name"], table)
    for reason in alone:
        lines += _exception(reason, "SlipwayError", table)
    if any(len(line) > _WIDTH for line in lines):
        lines = [line.replace("noqa: N818", "noqa: E501, N818") for line in lines]
    return "\n".join(lines) + "\n"


def write_classes(*, root: Path) -> Path:
    """Write the exceptions; give the path."""
    (root / CLASSES).write_text(classes(load(root)), encoding="utf-8")
    return root / CLASSES


def _class(reason: str) -> str:
    return "".join(word.capitalize() for word in reason.split("_"))


def _exception(reason: str, parent: str, table: Mapping[str, Any]) -> list[str]:
    meaning = table["reasons"][reason]["meaning"]
    return ["", "", f"class {_class(reason)}({parent}):", f'    """{meaning}"""', "", f"    reason = Reason.{reason}"]


def generate(*, root: Path, out: Path) -> Path:
    """Write the Python module below `out`; give its path."""
    target = out / MODULE
    target.parent.mkdir(parents=True, exist_ok=True)
    (target.parent / "__init__.py").touch()
    target.write_text(module(load(root)), encoding="utf-8")
    return target


def _keys(metadata: Mapping[str, str]) -> list[str]:
    return [f"- `{key}`: {meaning}" for key, meaning in sorted(metadata.items())]


def _yes(value: object) -> str:
    return "yes" if value else "no"


if __name__ == "__main__":
    base = Path(__file__).resolve().parent.parent
    generate(root=base, out=base / "sdk" / "python" / "build" / "gen")
    write_classes(root=base)
    if "--docs" in sys.argv[1:]:
        (base / PAGE).parent.mkdir(parents=True, exist_ok=True)
        (base / PAGE).write_text(page(load(base)), encoding="utf-8")
