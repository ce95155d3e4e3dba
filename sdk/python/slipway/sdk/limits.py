"""The limits of the contract, and what a person needs to get below them.

They keep every message within gRPC's default of 4 MiB, so that a provisioner in any language works without
settings.
"""

from collections import Counter

from slipway.contract.errors import BundleInvalid, BundleTooLarge, UserDataTooLarge, Violation
from slipway.contract.grammars import MOST_PATH_PARTS
from slipway.contract.secret_references import MAX_REFERENCED_BYTES, referenced_bytes
from slipway.v1alpha1 import bundle_pb2 as bundlepb

MAX_BUNDLE_BYTES = 2 * 1024 * 1024
MAX_USER_DATA_BYTES = 1024 * 1024
LARGEST_SHOWN = 5


def check_bundle_size(bundle: bundlepb.BootstrapBundle) -> None:
    """Refuse a bundle of more than 2 MiB, or of more than 4 MiB with its secrets at all the places that refer to them.

    Raises:
        BundleTooLarge: with size and limit.
    """
    size = bundle.ByteSize()
    if size > MAX_BUNDLE_BYTES:
        raise BundleTooLarge(
            "the bundle is larger than the contract allows",
            violations=[Violation("bundle", f"has {size} bytes; at most {MAX_BUNDLE_BYTES} are allowed")],
            metadata={"size": str(size), "limit": str(MAX_BUNDLE_BYTES)},
        )
    size = referenced_bytes(bundle)
    if size > MAX_REFERENCED_BYTES:
        raise BundleTooLarge(
            "the secrets of the bundle are repeated beyond what is allowed",
            violations=[Violation("secrets", f"have {size} bytes at the places that refer to them")],
            metadata={"size": str(size), "limit": str(MAX_REFERENCED_BYTES)},
        )


def check_path_depth(bundle: bundlepb.BootstrapBundle) -> None:
    """Refuse paths of more than 64 parts: what a provisioner does for each folder above a path costs their square.

    Raises:
        BundleInvalid: with the paths of the fields.
    """
    system = bundle.os
    paths = [
        (f"os.{name}[{index}].path", item.path)
        for name in ("files", "directories", "links", "mounts", "swaps")
        for index, item in enumerate(getattr(system, name))
    ]
    paths += [(f"os.users[{index}].home", user.home) for index, user in enumerate(system.users)]
    deep = [where for where, path in paths if path.count("/") + path.count("\\") > MOST_PATH_PARTS]
    if deep:
        raise BundleInvalid(
            "the bundle has paths that are deeper than the contract allows",
            violations=[Violation(where, f"must have at most {MOST_PATH_PARTS} parts") for where in deep],
        )


def check_user_data_size(content: bytes, *, limit: int, bundle: bundlepb.BootstrapBundle) -> None:
    """Refuse user data of more than `limit` bytes; 0 means 1 MiB.

    Raises:
        UserDataTooLarge: with size, limit and the largest contributors by origin.
    """
    limit = limit or MAX_USER_DATA_BYTES
    if len(content) > limit:
        raise UserDataTooLarge(
            f"the user data has {len(content)} bytes; at most {limit} are allowed",
            metadata={"size": str(len(content)), "limit": str(limit), "breakdown": breakdown(bundle)},
        )


def breakdown(bundle: bundlepb.BootstrapBundle) -> str:
    """Give the largest files by the place where they were written, "origin=bytes", comma-separated.

    Sizes are those in the bundle: what a secret adds is counted where it is used.
    """
    secrets = {(secret.name, secret.key): len(secret.value) for secret in bundle.secrets.secrets}
    sizes: Counter[str] = Counter()
    for index, file in enumerate(bundle.os.files):
        origin = file.origin.path or f"os.files[{index}]"
        for segment in file.content.segments:
            reference = segment.secret_ref
            sizes[origin] += len(segment.data) + secrets.get((reference.name, reference.key), 0)
    return ",".join(f"{origin}={size}" for origin, size in sizes.most_common(LARGEST_SHOWN))
