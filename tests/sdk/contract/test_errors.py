"""The exception tree and the error table agree, and an error crosses the wire whole."""

import ast
import re
from pathlib import Path

import pytest

from slipway.contract import errors
from slipway.contract.errors import (
    BundleInvalid,
    Denied,
    ForeignStatus,
    Invalid,
    LeaseNotFound,
    NoReadyProvisioner,
    SlipwayError,
    UnsupportedFeature,
    Violation,
    error_class,
)
from slipway.contract.status import Failure, encode
from slipway.v1alpha1.reasons import COMMON_METADATA, RULES, Code, Reason

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_has_one_class_of_its_name(reason: Reason) -> None:
    """A reason without a class could not be raised, nor come back from the wire as itself."""
    cls = error_class(reason)
    assert cls.__name__ == "".join(word.capitalize() for word in reason.split("_"))
    assert cls("x").code is RULES[reason].code
    assert cls.__doc__ == RULES[reason].meaning


def test_the_docstring_draws_the_whole_tree() -> None:
    """The picture at the top of the module is the truth: each class once, under its parent's code."""
    drawn = re.findall(r"[├└]── (\w+)", errors.__doc__ or "")
    declared = [
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, SlipwayError) and value is not SlipwayError
    ]
    assert sorted(drawn) == sorted(declared)


@pytest.mark.parametrize("group", [cls for cls in SlipwayError.__subclasses__() if cls.__subclasses__()])
def test_a_group_holds_one_code(group: type[SlipwayError]) -> None:
    """Catching a group means catching one status code, so every member has the same."""
    assert len({cls("x").code for cls in group.__subclasses__()}) == 1


@pytest.mark.parametrize("reason", list(Reason))
def test_an_error_survives_the_wire(reason: Reason) -> None:
    """Class, message, metadata, violations and wait come back as they were sent."""
    keys = RULES[reason].metadata | COMMON_METADATA - {"truncated"}
    sent = error_class(reason)(
        "what to do",
        violations=[("spec.nodes[0].mode", "must be octal"), Violation("spec.x", "is missing")],
        metadata={key: f"<{key}>" for key in keys},
        retry_after=1.5,
    )
    got = SlipwayError.from_status(sent.to_status())
    assert type(got) is type(sent)
    assert (str(got), got.metadata, got.violations, got.retry_after) == (
        "what to do",
        sent.metadata,
        sent.violations,
        1.5,
    )
    assert got.retryable is RULES[reason].retryable


def test_a_key_outside_the_table_is_a_defect() -> None:
    """Callers may rely on the documented keys, so the code cannot invent others."""
    with pytest.raises(ValueError, match="FEATURES"):
        UnsupportedFeature("x", metadata={"FEATURES": "a"})


@pytest.mark.parametrize("cls", [SlipwayError, Invalid, Denied])
def test_a_class_without_a_reason_cannot_be_raised(cls: type[SlipwayError]) -> None:
    """Groups exist for catching; raising one would send an error that the table does not know."""
    with pytest.raises(ValueError, match="raise a subclass"):
        cls("x")


@pytest.mark.parametrize(
    ("failure", "code", "retryable", "why"),
    [
        (Failure(code=14, message="connection refused"), Code.UNAVAILABLE, True, "no ErrorInfo: transport"),
        (Failure(code=3, message="x", reason="FROM_THE_FUTURE"), Code.INVALID_ARGUMENT, False, "new reason"),
        (Failure(code=14, message="x", reason="BUNDLE_INVALID"), Code.UNAVAILABLE, True, "code disagrees"),
        (Failure(code=99, message="x"), Code.UNKNOWN, False, "no such code"),
    ],
)
def test_what_the_table_does_not_know_is_foreign(*, failure: Failure, code: Code, retryable: bool, why: str) -> None:
    """A status of another maker is kept as it is and judged by its code alone."""
    got = SlipwayError.from_status(encode(failure))
    assert type(got) is ForeignStatus, why
    assert (got.code, got.reason, got.retryable) == (code, failure.reason, retryable), why


def test_a_newer_peer_may_send_more_metadata() -> None:
    """Keys that this table does not list yet are kept, not refused."""
    got = SlipwayError.from_status(
        encode(Failure(code=5, message="x", reason="LEASE_NOT_FOUND", metadata={"new": "1"}))
    )
    assert type(got) is LeaseNotFound
    assert got.metadata == {"new": "1"}


def test_another_domain_is_not_ours() -> None:
    """The same word in another domain is another reason."""
    status = BundleInvalid("x").to_status()
    status.details[0].value = status.details[0].value.replace(b"slipway.dev", b"example.org")
    assert type(SlipwayError.from_status(status)) is ForeignStatus


def test_a_gateway_names_the_origin() -> None:
    """The message gets the origin in front; what machines read stays."""
    error = NoReadyProvisioner("none is ready", metadata={"candidates": "a=EXPIRED"}, retry_after=2)
    before = error.to_status().details
    after = error.prefixed('provisioner "x" (1.2.3)').to_status()
    assert after.message == 'provisioner "x" (1.2.3): none is ready'
    assert list(after.details) == list(before)
    assert str(error) == after.message


def _constructed(folder: str) -> set[str]:
    names: set[str] = set()
    for path in (ROOT / folder).rglob("*.py"):
        if path == Path(errors.__file__):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                function = node.func
                names.add(getattr(function, "id", getattr(function, "attr", "")))
    return names


def test_every_reason_is_raised_somewhere() -> None:
    """The table promises nothing that no code does."""
    made = set().union(
        *(_constructed(folder) for folder in ("sdk/python/slipway", "services", "bootstrapper", "provisioners"))
    )
    assert sorted(r for r in Reason if error_class(r).__name__ not in made) == []
