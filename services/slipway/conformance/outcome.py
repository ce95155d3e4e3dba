"""How a check ends: it returns, or it raises one of these."""


class CheckEnd(Exception):  # noqa: N818  # not every end of a check is an error
    """A check did not pass.

        CheckEnd
        ├── Broken        the clause does not hold
        │   └── Crashed   the check came to an end that it was not written for
        ├── NotRun        this run has no means to make the check
        └── Unverified    nothing broken was found, but not everything could be looked at
            └── Unjudged  something was found that breaks the clause on a machine as usual, and this one is too slow

    Attributes:
        found: what was found, or why, one sentence each. Never a value of a secret.
    """

    def __init__(self, *found: str) -> None:
        """Say what was found."""
        super().__init__("; ".join(found))
        self.found = found


class Broken(CheckEnd):
    """The clause does not hold."""


class Crashed(Broken):
    """The check ended by an exception of another kind, which an answer has caused: that binds, whatever the clause."""


class NotRun(CheckEnd):
    """This run has no means to make the check."""


class Unverified(CheckEnd):
    """Nothing broken was found, but not everything could be looked at."""


class Unjudged(Unverified):
    """What was found breaks the clause on a machine as usual; this one is too slow to tell."""


def expect(holds: object, found: str) -> None:
    """Say what was found unless it holds.

    Raises:
        Broken: it does not hold.
    """
    if not holds:
        raise Broken(found)


def all_hold(problems: list[str]) -> None:
    """Say what was found, if anything; many are cut to ten.

    Raises:
        Broken: there are problems.
    """
    most = 10
    if problems:
        more = [f"and {len(problems) - most} more"] if len(problems) > most else []
        raise Broken(*problems[:most], *more)
