"""Lines of /etc/fstab.

systemd's own generator reads it on every distribution, image-based ones too, and knows all options that people write
(nofail, x-systemd.*, _netdev), which a mount unit would have to be translated from. Source: fstab(5),
systemd-fstab-generator(8).
"""

from collections.abc import Sequence
from dataclasses import dataclass

_ESCAPES = {"\\": "\\134", " ": "\\040", "\t": "\\011", "\n": "\\012"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FstabEntry:
    """One line: what, where, of which kind, with which options."""

    source: str
    path: str
    type: str = "auto"
    options: Sequence[str] = ()
    check: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """The field that identifies the line, by number, and its value: mount point, or device of swap space."""
        return ("1", escaped(self.source)) if self.type == "swap" else ("2", escaped(self.path))

    def line(self) -> str:
        """Give the line without its end."""
        options = ",".join(self.options) or "defaults"
        words = [self.source, self.path, self.type, options]
        return " ".join([*(escaped(word) for word in words), "0", "2" if self.check else "0"])


def escaped(word: str) -> str:
    """Give a word as fstab(5) wants it. A leading # would make the line a comment."""
    text = "".join(_ESCAPES.get(char, char) for char in word)
    return f"\\043{text[1:]}" if text.startswith("#") else text
