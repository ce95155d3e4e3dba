"""What a program reads and writes: the contract's own messages, as JSON or as protobuf.

JSON for a process of its own has one value a line, with a space for each level, and escapes what YAML does not take as
it is. So a program of awk reads it line by line, and may copy a string as it stands into JSON or YAML of its own.
"""

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from google.protobuf.message import DecodeError, Message
from google.rpc.status_pb2 import Status
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from slipway.contract.errors import ForeignStatus, SlipwayError
from slipway.contract.status import Failure, Violation, encode
from slipway.v1alpha1.reasons import RULES, Reason

M = TypeVar("M", bound=Message)

_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_KINDS = {b"A": False, b"S": True}


class ProgramError(Exception):
    """The program did not answer as it has to; the text says what is wrong, and holds nothing that it wrote."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a program wrote: a message, or a refusal. It may hold secrets, so it is not in the repr."""

    refused: bool
    body: bytes = field(repr=False)


class _Violation(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    field: str
    description: str = "is not supported here"
    feature: str = ""
    remedy: str = ""


class _Refusal(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    reason: Reason
    message: str = "the program refuses the bundle"
    violations: list[_Violation] = Field(default_factory=list)
    metadata: dict[str, str] = Field(default_factory=dict)


class Wire(Protocol):
    """One encoding of requests and answers."""

    def request(self, message: Message) -> bytes:
        """Give what a process of its own reads until the end of standard input."""

    def frame(self, call: str, message: Message) -> bytes:
        """Give what a process that lives on reads as one request."""

    async def read_frame(self, reader: asyncio.StreamReader, *, limit: int) -> Answer:
        """Read one answer of a process that lives on.

        Raises:
            ProgramError: it is too long, or none.
            asyncio.IncompleteReadError: the program has ended.
        """

    def message(self, body: bytes, into: type[M]) -> M:
        """Give the message that an answer holds.

        Raises:
            ProgramError: it holds none.
        """

    def refusal(self, body: bytes, clean: Callable[[str], str]) -> SlipwayError:
        """Give the error that a refusal means; its texts pass through `clean`.

        Raises:
            ProgramError: it is none of the contract's.
        """


class JsonWire:
    """Proto-JSON, with the fields named as in the proto files, the way in which errors name them."""

    def request(self, message: Message) -> bytes:
        """Give the message, a value a line."""
        return (_json(_dictionary(message), indent=1) + "\n").encode()

    def frame(self, call: str, message: Message) -> bytes:
        """Give one line: {"call": ..., "request": ...}."""
        return (_json({"call": call, "request": _dictionary(message)}) + "\n").encode()

    async def read_frame(self, reader: asyncio.StreamReader, *, limit: int) -> Answer:
        """Read one line: {"response": ...} or {"refusal": ...}."""
        try:
            line = await reader.readline()
        except ValueError:
            raise ProgramError(f"it wrote a line of more than {limit} bytes") from None
        if not line:
            raise asyncio.IncompleteReadError(b"", None)
        (key, value), *more = _object(line).items() or [("", None)]
        if more or key not in ("response", "refusal") or not isinstance(value, dict):
            raise ProgramError('a line must be {"response": {...}} or {"refusal": {...}}')
        return Answer(refused=key == "refusal", body=_json(value).encode())

    def message(self, body: bytes, into: type[M]) -> M:
        """Read proto-JSON; a field that the message does not have is an error."""
        try:
            return ParseDict(_object(body), into())
        except ParseError:
            raise ProgramError(f"what it wrote is not a {into.DESCRIPTOR.name} in proto-JSON") from None

    def refusal(self, body: bytes, clean: Callable[[str], str]) -> SlipwayError:
        """Read {"reason", "message", "violations": [{"field", "description", "feature", "remedy"}], "metadata"}."""
        try:
            refusal = _Refusal.model_validate(_object(body))
        except ValidationError as error:
            fields = sorted({".".join(map(str, problem["loc"])) for problem in error.errors(include_input=False)})
            raise ProgramError(f"its refusal is not as it must be: {', '.join(fields)}") from None
        failure = Failure(
            code=RULES[refusal.reason].code,
            message=refusal.message,
            reason=refusal.reason,
            metadata=refusal.metadata,
            violations=tuple(
                Violation(violation.field, violation.description, violation.feature, violation.remedy)
                for violation in refusal.violations
            ),
        )
        return _error(failure, clean)


class ProtobufWire:
    """Messages in protobuf; refusals are google.rpc.Status."""

    def request(self, message: Message) -> bytes:
        """Give the message."""
        return message.SerializeToString(deterministic=True)

    def frame(self, call: str, message: Message) -> bytes:
        """Give the first letter of the call, the length in four bytes, the highest first, and the message."""
        body = self.request(message)
        return call[:1].encode() + len(body).to_bytes(4, "big") + body

    async def read_frame(self, reader: asyncio.StreamReader, *, limit: int) -> Answer:
        """Read "A" for an answer or "S" for a status, the length in four bytes, and the message."""
        kind = await reader.readexactly(1)
        length = int.from_bytes(await reader.readexactly(4), "big")
        if kind not in _KINDS:
            raise ProgramError('an answer must begin with the letter "A", a status with "S"')
        if length > limit:
            raise ProgramError(f"it announced an answer of more than {limit} bytes")
        return Answer(refused=_KINDS[kind], body=await reader.readexactly(length))

    def message(self, body: bytes, into: type[M]) -> M:
        """Read a message."""
        try:
            return into.FromString(body)
        except DecodeError:
            raise ProgramError(f"what it wrote is not a {into.DESCRIPTOR.name} in protobuf") from None

    def refusal(self, body: bytes, clean: Callable[[str], str]) -> SlipwayError:
        """Read a google.rpc.Status with its details, as it is sent over gRPC."""
        error = SlipwayError.from_status(self.message(body, Status))
        if isinstance(error, ForeignStatus):
            raise ProgramError("its status has no ErrorInfo with a reason of the contract and that reason's code")
        failure = Failure(error.code, error.message, error.reason, error.metadata, error.violations, error.retry_after)
        return _error(failure, clean)


def _error(failure: Failure, clean: Callable[[str], str]) -> SlipwayError:
    """Give the error, without values of the request, and with the features that its violations name."""
    violations = tuple(
        Violation(violation.path, clean(violation.description), violation.feature, clean(violation.remedy))
        for violation in failure.violations
    )
    metadata = dict(failure.metadata)
    if failure.reason == Reason.UNSUPPORTED_FEATURE:
        features = {violation.feature for violation in violations} - {""}
        metadata.setdefault("features", ",".join(sorted(features)))
    return SlipwayError.from_status(
        encode(Failure(failure.code, clean(failure.message), failure.reason, metadata, violations, failure.retry_after))
    )


def _dictionary(message: Message) -> dict[str, Any]:
    return MessageToDict(message, preserving_proto_field_name=True)


def _json(value: Any, *, indent: int | None = None) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _NOT_IN_YAML.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise ProgramError("what it wrote is not JSON") from None
    if not isinstance(value, dict):
        raise ProgramError("what it wrote is not a JSON object")
    return value
