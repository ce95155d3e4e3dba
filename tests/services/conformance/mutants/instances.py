"""Mutants of which no two processes are alike."""

import random
from collections.abc import Iterator
from typing import Any

from slipway.provisioners.talos.provisioner import TalosProvisioner
from tests.services.conformance.bent import Bent, Life
from tests.services.conformance.mutants.living import living
from tests.services.conformance.mutants.mutant import Mutant


def mutants() -> Iterator[Mutant]:
    """Give them."""
    urls = iter(["", "https://example.com/2"])
    # Each process of it makes its own core, and so gets the next one.

    class Moody(TalosProvisioner):
        """Says something else in its second process."""

        def __init__(self) -> None:
            self.documentation_url = next(urls, "https://example.com/3")

    yield Mutant("another answer in another process", ("INF-011.every-instance",), Bent(provisioner=Moody), ("EXE",))

    class Seeded(TalosProvisioner):
        """Has a seed of its own in every process."""

        def __init__(self) -> None:
            self.seed = random.random()

        def render(self, bundle: Any, target: Any, ctx: Any) -> Any:
            made = super().render(bundle, target, ctx)
            return type(made)(made.content + f"# {self.seed}\n".encode(), made.attachments)

    yield Mutant("another seed in another process", ("RND-004.another-instance",), Bent(provisioner=Seeded), ("EXE",))

    class Growing(Life):
        def memory(self, renders: int) -> int:
            return 50_000_000 + renders * 40_000_000

    yield Mutant("memory that grows", ("LIM-010.memory",), living(Growing()))
