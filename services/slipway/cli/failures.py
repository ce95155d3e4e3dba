"""Every way in which a command can end without success, as a message and an exit code, never a traceback."""

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from slipway.bootstrapper.importers.substitution import VariablesUnset
from slipway.bootstrapper.problems.error_texts import report
from slipway.cli.exit_codes import FAILED, INTERRUPTED
from slipway.cli.output import folded, note
from slipway.contract.errors import SlipwayError
from slipway.contract.source_position import SourceError

F = TypeVar("F", bound=Callable[..., Any])
_HOW_TO_SET = "give variables by --set NAME=VALUE or in the environment; --set-missing fills them in for a first look"


def reported(command: F) -> F:
    """Wrap a command so that each failure becomes words on standard error and an exit code."""

    @wraps(command)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except (click.exceptions.Exit, click.ClickException):
            raise
        except KeyboardInterrupt:
            note("interrupted")
            sys.exit(INTERRUPTED)
        except SlipwayError as error:
            note(report(error))
        except VariablesUnset as error:
            note(str(error))
            note(_HOW_TO_SET, "note")
        except SourceError as error:
            note("\n".join(folded(str(problem) for problem in error.problems)))
        except ConnectionError as error:
            note(str(error))
        except OSError as error:
            note(f"{error.filename or 'output'}: {error.strerror or type(error).__name__}")
        except Exception as error:  # noqa: BLE001  # a person must never see a traceback
            place = _place(error)
            note(f"internal error: {type(error).__name__} at {place}. This is a defect of Slipway.")
        sys.exit(FAILED)

    return wrapper  # type: ignore[return-value]  # the wrapper has the command's own signature


def _place(error: BaseException) -> str:
    """Name the innermost place in our code, without any value."""
    trace, place = error.__traceback__, "an unknown place"
    while trace is not None:
        code = trace.tb_frame.f_code
        place = f"{code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place
