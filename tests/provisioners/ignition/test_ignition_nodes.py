"""The paths of a config are looked up, and not collected for each entry."""

from collections.abc import Iterator

from slipway.contract.content import SecretIndex
from slipway.provisioners.ignition.document import File
from slipway.provisioners.ignition.nodes import Nodes
from slipway.sdk import RenderContext
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import secret_pb2 as secretpb


class _Watched(dict[str, File]):
    """Files, with a count of the iterations over all of them."""

    passes = 0

    def __iter__(self) -> Iterator[str]:
        self.passes += 1
        return super().__iter__()


def _nodes() -> tuple[Nodes, RenderContext, _Watched]:
    context = RenderContext(
        format_info=provisionerpb.FormatInfo(format="ignition"), secrets=SecretIndex(secretpb.SecretMaterial())
    )
    nodes, files = Nodes(context, links=(), late={}, spec2=False), _Watched()
    nodes.files = files
    return nodes, context, files


def _file(number: int) -> ospb.File:
    return ospb.File(path=f"/srv/{number}", owner="root", group="root", mode=0o644)


def test_no_file_goes_through_all_others() -> None:
    """The work of a file does not grow with the number of files: thousands of steps are as many files."""
    nodes, context, files = _nodes()
    for number in range(5):
        nodes.add_file(_file(number), f"os.files[{number}]")
        nodes.add_directory(ospb.Directory(path=f"/var/{number}", owner="root", group="root"), f"os.dirs[{number}]")
        nodes.add_link(ospb.Link(path=f"/opt/{number}", target="/srv", owner="root", group="root"), f"os.l[{number}]")
        nodes.add_own(f"/etc/{number}", b"x", mode=0o644, where=f"os.units[{number}]", feature="os.systemd_units")
    assert not context.refusals
    assert files.passes == 0
    assert len(nodes.paths) == 4 * 5
    assert files.passes == 1, "an iteration is counted"


def test_a_path_that_is_taken_is_refused() -> None:
    """A second entry for the path of a file, a directory or a link is refused."""
    nodes, context, _ = _nodes()
    nodes.add_file(_file(1), "file")
    nodes.add_directory(ospb.Directory(path="/srv/2", owner="root", group="root"), "directory")
    nodes.add_link(ospb.Link(path="/srv/3", target="/", owner="root", group="root"), "link")
    for number in (1, 2, 3):
        nodes.add_file(_file(number), f"second[{number}]")
        nodes.add_own(f"/srv/{number}", b"", mode=0, where=f"own[{number}]", feature="os.systemd_units")
    assert [refusal.path for refusal in context.refusals] == [
        place for number in (1, 2, 3) for place in (f"second[{number}]", f"own[{number}]")
    ]
