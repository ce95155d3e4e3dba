"""An edit: a place in the source of a provisioner, what stands there afterwards, and the check that sees it."""

from dataclasses import dataclass
from pathlib import Path

import yaml


@dataclass(frozen=True, slots=True)
class Edit:
    """A slip in a source file.

    Attributes:
        name: what is wrong, for people.
        file: the source file, from the provisioner's folder.
        old: the text that is there, once.
        new: the text in its place.
        check: id of a check that must fail, or warn; empty where the suite does not see it.
        missed: the suite did not see it when it was written.
        unseen: why the suite does not see it.
    """

    name: str
    file: str
    old: str
    new: str
    check: str = ""
    missed: bool = False
    unseen: str = ""

    def applied(self, source: str) -> str:
        """Give a source with the edit in it.

        Raises:
            LookupError: the text to be changed does not stand there once.
        """
        if source.count(self.old) != 1:
            raise LookupError(f'{self.file} has the text of "{self.name}" {source.count(self.old)} times')
        return source.replace(self.old, self.new)


def edits(name: str) -> list[Edit]:
    """Give the edits of a file of this folder, also those that the suite does not see."""
    text = (Path(__file__).parent / f"{name}.yaml").read_text(encoding="utf-8")
    return [Edit(**row) for row in yaml.safe_load(text)["edits"]]
