"""The scalars of a Container Linux Config: all are text until the type of their field is known, as in Go."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from slipway.contract.yaml_scalars import go_integer, plain_value


def _integer(value: object) -> object:
    return number if isinstance(value, str) and (number := go_integer(value)) is not None else value


def _boolean(value: object) -> object:
    return known if isinstance(value, str) and isinstance(known := plain_value(value), bool) else value


Integer = Annotated[int, BeforeValidator(_integer)]
Boolean = Annotated[bool, BeforeValidator(_boolean)]
Mode = Annotated[Integer, Field(ge=0, le=0o7777)]
Text = Annotated[str, Field(max_length=32768)]
