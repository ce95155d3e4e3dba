"""Settles how to treat the user that a distribution brings along: a plain value and no item, so no pass has it."""

from collections.abc import Collection

from slipway.bootstrapper.lowering.work import Work
from slipway.bootstrapper.problems.problem import Problem
from slipway.v1alpha1 import os_pb2 as ospb

_DEFAULT_USER = {
    ospb.DEFAULT_USER_KEEP: "os.default_user",
    ospb.DEFAULT_USER_OMIT: "os.default_user.omit",
}


def settle_default_user(work: Work, declared: Collection[str]) -> None:
    """Take out a wish for the distribution's user that the format does not take; it is a plain value and no item.

    KEEP is what happens without anybody's help. OMIT is refused: after the first-boot system has made the user nobody
    can tell any more what belongs to it.
    """
    system = work.draft.bundle.os
    wanted = _DEFAULT_USER.get(system.default_user, _DEFAULT_USER[ospb.DEFAULT_USER_KEEP])
    if not system.HasField("default_user") or wanted in declared:
        return
    if system.default_user == ospb.DEFAULT_USER_OMIT:
        optional = not work.optional_features.isdisjoint({wanted, "os.default_user"})
        (work.result.omitted if optional else work.result.refusals).append(
            Problem(
                wanted,
                "os.default_user",
                work.in_vain(f"{wanted} is not supported"),
                "choose an image without that user, or leave it out",
                other_formats=True,
            )
        )
    system.ClearField("default_user")
