"""PowerShell's own quoting: the one place where a value becomes a part of a script.

Windows PowerShell reads a script without a byte order mark in the machine's code page, takes typographic quotes for
quotes, and ends a statement at a line break. So a literal here is printable ASCII between single quotes, in which only
the quote itself means anything; every other text travels as base64 and is decoded on the machine.
"""

import base64

_DECODE = "([System.Text.Encoding]::UTF8.GetString([System.Convert]::FromBase64String({0})))"


def quoted(text: str) -> str:
    """Give an expression whose value is the text."""
    if text.isascii() and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return _DECODE.format(quoted(encoded(text.encode())))


def encoded(data: bytes) -> str:
    """Give standard base64 without line breaks."""
    return base64.b64encode(data).decode("ascii")


def call(function: str, *values: str | bool) -> str:
    """Give a call of one of our own functions, one statement on one line."""
    return " ".join(
        [
            function,
            *(("$true" if value else "$false") if isinstance(value, bool) else quoted(value) for value in values),
        ]
    )
