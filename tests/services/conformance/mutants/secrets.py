"""Mutants that talk too much."""

from collections.abc import Callable, Iterator
from typing import Any

from google.rpc.status_pb2 import Status

from tests.services.conformance.bent import Bent, Request, Response, Servicer
from tests.services.conformance.mutants.bending import answered
from tests.services.conformance.mutants.mutant import Mutant


def _leak(say: Callable[[Request], str]) -> Callable[[Request, Status], None]:
    def bend(request: Request, status: Status) -> None:
        status.message = f"{status.message}: {say(request)}"[:3000]

    return bend


def _a_secret(request: Request) -> str:
    return next((secret.value.decode() for secret in request.bundle.secrets.secrets), "")


def _a_literal(request: Request) -> str:
    import base64

    parts = [segment.data for file in request.bundle.os.files for segment in file.content.segments if segment.data]
    return base64.b64encode(b"content: " + parts[-1]).decode() if parts else ""


def mutants() -> Iterator[Mutant]:
    """Give them."""
    yield Mutant("a secret in an error", ("SEC-001.secrets-in-errors",), Bent(error=_leak(_a_secret)), ("ERR",))
    yield Mutant(
        "content in base64 in an error", ("SEC-001.secrets-in-errors",), Bent(error=_leak(_a_literal)), ("ERR",)
    )
    yield Mutant(
        "a path in an error", ("SEC-002.values-in-errors",),
        Bent(error=_leak(lambda request: "".join(file.path for file in request.bundle.os.files[-1:]))), ("ERR",),
    )  # fmt: skip
    yield Mutant(
        "the format in an error", ("SEC-002.values-in-errors",), Bent(error=_leak(lambda request: request.format)),
        ("ERR",),
    )  # fmt: skip
    yield Mutant(
        "the bundle's id in an error", ("SEC-002.values-in-errors",),
        Bent(error=_leak(lambda request: request.bundle.id)), ("ERR",),
    )  # fmt: skip
    yield Mutant(
        "an argument in an error", ("SEC-002.values-in-errors",),
        Bent(error=_leak(lambda request: " ".join(request.bundle.plan.entrypoint.argv[-1:]))), ("ERR",),
    )  # fmt: skip
    yield Mutant(
        "a secret in a remark", ("SEC-003.secrets-in-answers",),
        answered(lambda request, response: response.diagnostics.add(
            severity=1, code="HELLO", message=f"used {_a_secret(request)}")),
    )  # fmt: skip
    yield Mutant(
        "a path in a remark", ("SEC-003.values-in-diagnostics",),
        answered(lambda request, response: response.diagnostics.add(
            severity=1, code="HELLO", message=f"wrote {''.join(file.path for file in request.bundle.os.files[-1:])}")),
    )  # fmt: skip
    yield Mutant("requests in the log", ("SEC-004.secrets-in-output",), Bent(call=_logging))


async def _logging(servicer: Servicer, request: Request, context: Any) -> Response:
    servicer.output += str(request).encode()
    return await servicer.rendered(request, context)
