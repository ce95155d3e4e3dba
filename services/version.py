"""The version of this distribution, for provenance: one for all services that are built from it."""

from typing import Final

VERSION: Final = "0.1.0"
