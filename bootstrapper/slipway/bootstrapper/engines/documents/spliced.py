"""A document may hold text that is not known here: a secret, a fact of the machine, text of an extension.

Such a text is a sequence of literal parts and slots. The serialiser keeps the slots apart from the literal
text, so that nothing unknown is ever copied into a document.
"""

import re
from dataclasses import dataclass

_PRINTABLE = re.compile(r"[ -~]*")


class UnquotableTextError(ValueError):
    """Foreign template text that no YAML scalar can hold unescaped. The message does not repeat it."""


@dataclass(frozen=True)
class Slot:
    """A place in the text that another part fills.

    Attributes:
        content: what it is filled with, in the words of the caller.
        verbatim: text that another program reads at this place before YAML is parsed, so it is never escaped.
        base64: what fills it stands there in base64.
    """

    content: object
    verbatim: str | None = None
    base64: bool = False


@dataclass(frozen=True)
class Spliced:
    """Text of which at least one part is a slot."""

    parts: tuple[str | Slot, ...]

    @property
    def is_one_value(self) -> bool:
        """Return whether a single value fills the whole text."""
        if len(self.parts) != 1 or not isinstance(self.parts[0], Slot):
            return False
        return self.parts[0].verbatim is None and not self.parts[0].base64

    @property
    def quote(self) -> str:
        """Give the quote around the text: single quotes where verbatim text has double ones, else double.

        Raises:
            UnquotableTextError: verbatim text fits into neither.
        """
        verbatim = "".join(part.verbatim or "" for part in self.parts if isinstance(part, Slot))
        literal = "".join(part for part in self.parts if isinstance(part, str))
        if not _PRINTABLE.fullmatch(verbatim):
            raise UnquotableTextError("template text must be printable ASCII on one line")
        if verbatim and "'" not in verbatim and _PRINTABLE.fullmatch(literal):
            return "'"
        if '"' not in verbatim and "\\" not in verbatim:
            return '"'
        raise UnquotableTextError("template text must not need both kinds of quotes")


Text = str | Spliced
"""What a text field of an output document may hold."""
