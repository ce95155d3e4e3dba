"""A wave: items that the runner installs, because some other item that they depend on is not there earlier.

There may be several waves, because some items must be there before a step (the unit of a mount) and others
after it (the files below that mount). Where a wave stands among the steps of the phase PREPARE is the
caller's decision.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb


@dataclass(frozen=True, kw_only=True)
class Wave:
    """Items that are installed together: directories, then files, then links, each list in its order.

    Attributes:
        id: name of the step that installs them, unique among the steps of the plan.
        directories: with owner, group and mode.
        files: with owner, group and mode; `append` and `remote` are supported, machine facts are filled in.
        links: symbolic and hard ones.
        protected: Windows only: paths of files that the provisioner wrote, to which only Administrators and
            SYSTEM may have access.
    """

    id: str
    directories: tuple[ospb.Directory, ...] = ()
    files: tuple[ospb.File, ...] = ()
    links: tuple[ospb.Link, ...] = ()
    protected: tuple[str, ...] = field(default=())

    @property
    def facts(self) -> frozenset[contentpb.FactKind.ValueType]:
        """Kinds of the machine facts that the files need."""
        return frozenset().union(*(facts_of(file.content) | facts_of(file.remote.ca) for file in self.files))

    @property
    def own_authorities(self) -> bool:
        """Whether something is downloaded from servers for which authorities of its own vouch."""
        return any(file.remote.HasField("ca") for file in self.files)


def facts_of(content: contentpb.Content) -> frozenset[contentpb.FactKind.ValueType]:
    """Give the kinds of the machine facts in a content."""
    return facts_in(content.segments)


def facts_in(
    segments: Iterable[contentpb.Segment | contentpb.TextSegment],
) -> frozenset[contentpb.FactKind.ValueType]:
    """Give the kinds of the machine facts among segments."""
    return frozenset(segment.fact.kind for segment in segments if segment.WhichOneof("value") == "fact")
