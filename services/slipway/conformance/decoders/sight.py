"""Which features each decoder can read out of its formats: data, so that a claim is easy to see and to doubt."""

from functools import cache
from importlib.resources import files

import yaml


@cache
def sees(decoder: str) -> tuple[str, ...]:
    """Give the features that a decoder sees."""
    text = files(__package__).joinpath("sight.yaml").read_text(encoding="utf-8")
    return tuple(yaml.safe_load(text)[decoder])
