"""The version of all distributions, for provenance: they are released together."""

from typing import Final

VERSION: Final = "0.1.0"
