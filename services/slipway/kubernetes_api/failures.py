"""What a call of a Kubernetes API may fail with, apart from the client that made it.

    ApiFailure
    ├── NotFound         the object, or its kind, is not there
    ├── AlreadyExists    an object of that name is there
    ├── Conflict         the object was changed meanwhile
    ├── Forbidden        the role lacks the verb
    ├── Unauthorized     the credentials are not accepted (any more)
    ├── Invalid          the API server refuses the object
    ├── Expired          the watch's place in history is gone
    └── Unreachable      no answer in time, throttled, or a failure of the server: worth a repeat

A message names verb, kind and object, never a part of a body: bodies hold secrets.
"""

from typing import ClassVar


class ApiFailure(Exception):  # noqa: N818  # the base class of states such as Forbidden
    """A call failed. `verb`, `kind` and `name` say which."""

    what: ClassVar[str] = "failed"

    def __init__(self, verb: str, kind: str, name: str = "", detail: str = "") -> None:
        """Describe the call; `detail` must be free of anything from a body."""
        super().__init__(f"{verb} {kind}{' ' + name if name else ''}: {self.what}{': ' + detail if detail else ''}")
        self.verb = verb
        self.kind = kind
        self.name = name


class NotFound(ApiFailure):
    """The object, or its kind, is not there."""

    what = "not found"


class AlreadyExists(ApiFailure):
    """An object of that name is there."""

    what = "already exists"


class Conflict(ApiFailure):
    """The object was changed meanwhile, or is another one than was meant."""

    what = "conflict"


class Forbidden(ApiFailure):
    """The role of the service lacks the verb."""

    what = "forbidden"


class Unauthorized(ApiFailure):
    """The credentials are not accepted, or not any more."""

    what = "credentials are not accepted"


class Invalid(ApiFailure):
    """The API server refuses the object."""

    what = "refused as invalid"


class Expired(ApiFailure):
    """The place in history from which a watch was to go on is gone."""

    what = "resource version is gone"


class Unreachable(ApiFailure):
    """No answer in time, throttled, or a failure of the server: worth a repeat."""

    what = "no usable answer"


def failure(  # noqa: PLR0913  # the parts of an answer
    status: int, reason: str, *, verb: str, kind: str, name: str, fields: str = ""
) -> ApiFailure:
    """Give the failure that an HTTP status and the API's own reason mean; `fields` are paths, never values."""
    if status == 409:  # noqa: PLR2004  # a code of HTTP
        kind_of_failure: type[ApiFailure] = AlreadyExists if reason == "AlreadyExists" else Conflict
    else:
        kind_of_failure = _BY_STATUS.get(status, Unreachable if status >= 500 else Invalid)  # noqa: PLR2004  # a code of HTTP
    return kind_of_failure(verb, kind, name, fields or (f"HTTP {status}" if kind_of_failure is Unreachable else ""))


_BY_STATUS: dict[int, type[ApiFailure]] = {
    400: Invalid,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    410: Expired,
    422: Invalid,
    429: Unreachable,
}
