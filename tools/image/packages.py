"""The Debian packages of the image, and the lock that says which ones were reviewed.

A mirror of Debian serves the newest packages only, so that a lock cannot bring back older ones: it makes a change
visible, and a release is refused until the change was reviewed.
"""

from pathlib import Path

from tools.image.podman import podman

LOCK = Path(__file__).parents[2] / "deploy" / "base-packages.txt"
REMEDY = "run 'python -m tools.image lock', review what changed in deploy/base-packages.txt, and commit it"


def installed(image: str) -> str:
    """Return name, version and architecture of every Debian package of an image, a line for each."""
    listing = podman("run", "--rm", image, "dpkg-query", "-W", "-f", "${Package} ${Version} ${Architecture}\n")
    return "\n".join([*sorted(listing.splitlines()), ""])


def write_lock(image: str, *, lock: Path = LOCK) -> None:
    """Record the packages of an image as reviewed."""
    lock.write_text(installed(image), encoding="utf-8")


def differences(listing: str, *, lock: Path = LOCK) -> list[str]:
    """Return the lines in which packages differ from the lock: "+" for what the lock does not have."""
    locked, installed_lines = set(lock.read_text(encoding="utf-8").splitlines()), set(listing.splitlines())
    return [
        *(f"- {line}" for line in sorted(locked - installed_lines)),
        *(f"+ {line}" for line in sorted(installed_lines - locked)),
    ]
