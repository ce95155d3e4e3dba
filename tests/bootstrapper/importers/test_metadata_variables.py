"""Pre-commands that fill in the node's name are recognised, and nothing else is."""

import pytest

from slipway.bootstrapper.importers.jinja import Piece
from slipway.bootstrapper.importers.metadata_variables import filled_in, variable_fact
from slipway.v1alpha1 import content_pb2 as contentpb

ENVSUBST = ["envsubst < /etc/kubeadm.yml > /etc/kubeadm.yml.tmp", "mv /etc/kubeadm.yml.tmp /etc/kubeadm.yml"]
SED_AZURE = (
    "sed -i \"s/@@HOSTNAME@@/$(curl -s -H Metadata:true --noproxy '*' "
    "'http://169.254.169.254/metadata/instance?api-version=2020-09-01' | jq -r .compute.name)/g\" /etc/kubeadm.yml"
)
SED_AWS = (
    "sed -i 's#@@NAME@@#'\"$(curl -s http://169.254.169.254/latest/meta-data/local-hostname)\"'#' /etc/kubeadm.yml"
)
HOSTNAME, LOCAL = contentpb.FACT_KIND_HOSTNAME, contentpb.FACT_KIND_LOCAL_HOSTNAME
SHORT = contentpb.FACT_KIND_SHORT_HOSTNAME


@pytest.mark.parametrize(
    "commands", [ENVSUBST, [" && ".join(ENVSUBST)], ["echo a", ENVSUBST[0], "echo b", ENVSUBST[1], "echo c"]]
)
def test_envsubst_over_kubeadms_file_is_recognised(commands: list[str]) -> None:
    """The two commands, wherever they stand, mean that variables are filled in."""
    got = filled_in(commands)
    assert [commands[index] for index in got.commands] == [line for line in commands if "kubeadm.yml" in line]
    assert got.pieces("x-${COREOS_EC2_HOSTNAME}") == [Piece(text="x-"), Piece(fact=HOSTNAME)]
    assert got.pieces("$COREOS_EC2_IPV4_LOCAL!") == [
        Piece(fact=contentpb.FACT_KIND_PRIVATE_IPV4),
        Piece(text="!"),
    ]


NOT_RECOGNISED = [
    (["envsubst < /etc/kubeadm.yml > /tmp/x", "mv /tmp/y /etc/kubeadm.yml"], "another file is moved"),
    (["envsubst < /etc/other.yml > /tmp/x", "mv /tmp/x /etc/kubeadm.yml"], "another file is read"),
    (["envsubst '$A' < /etc/kubeadm.yml > /tmp/x", "mv /tmp/x /etc/kubeadm.yml"], "only some variables"),
    (["sed -i s/a/b/ /etc/kubeadm.yml"], "any other sed"),
    ([], "nothing at all"),
]


@pytest.mark.parametrize(("commands", "reason"), NOT_RECOGNISED)
def test_other_commands_are_not_recognised(commands: list[str], reason: str) -> None:
    """Then a variable is plain text."""
    got = filled_in(commands)
    assert got.commands == (), reason
    assert got.pieces("${COREOS_EC2_HOSTNAME}") == [Piece(text="${COREOS_EC2_HOSTNAME}")], reason


@pytest.mark.parametrize("text", ["${HOME}", "$X", "${COREOS_EC2_NOTHING}", "a ${COREOS_CUSTOM_HOSTNAME}"])
def test_variables_that_mean_no_fact_spoil_the_idiom(text: str) -> None:
    """Nobody knows what envsubst would put there."""
    assert filled_in(ENVSUBST).pieces(text) is None


def test_a_variable_of_ones_own_is_known_by_its_unit() -> None:
    """The vSphere template makes its variable from the metadata's local host name."""
    unit = "ExecStart=bash -c 'echo \"COREOS_CUSTOM_HOSTNAME=$(vmtoolsd ... | grep local-hostname)\"'"
    assert filled_in(ENVSUBST, texts=[unit]).pieces("${COREOS_CUSTOM_HOSTNAME}") == [Piece(fact=LOCAL)]
    assert variable_fact("COREOS_CUSTOM_HOSTNAME", texts=["COREOS_CUSTOM_HOSTNAME=$(uuidgen)"]) is None


SHORTENED = "export COREOS_OPENSTACK_HOSTNAME=${COREOS_OPENSTACK_HOSTNAME%%.*}"


def test_a_shortened_host_name_of_openstack_is_the_short_one() -> None:
    """The domain is cut first; without the cut it is the host name as it is."""
    assert filled_in([SHORTENED, *ENVSUBST]).pieces("${COREOS_OPENSTACK_HOSTNAME}") == [Piece(fact=SHORT)]
    assert filled_in(ENVSUBST).pieces("${COREOS_OPENSTACK_HOSTNAME}") == [Piece(fact=HOSTNAME)]


EXPORTS = [
    ([SHORTENED, *ENVSUBST], (0, 1, 2), "nobody else uses it"),
    ([SHORTENED, *ENVSUBST, "echo $COREOS_OPENSTACK_HOSTNAME"], (1, 2), "another command uses it"),
    ([SHORTENED, "echo"], (), "there is no envsubst"),
    (["export COREOS_EC2_HOSTNAME=${COREOS_EC2_HOSTNAME}", *ENVSUBST], (0, 1, 2), "an export of itself"),
]


@pytest.mark.parametrize(("commands", "indices", "reason"), EXPORTS)
def test_exports_for_envsubst_alone_go_with_it(commands: list[str], indices: tuple[int, ...], reason: str) -> None:
    """What only served envsubst is not needed any more."""
    assert filled_in(commands).commands == indices, reason


def test_an_export_of_itself_changes_nothing() -> None:
    """The variable keeps its meaning."""
    got = filled_in(["export COREOS_EC2_HOSTNAME=${COREOS_EC2_HOSTNAME}", *ENVSUBST])
    assert got.pieces("${COREOS_EC2_HOSTNAME}") == [Piece(fact=HOSTNAME)]


def test_a_variable_that_a_command_sets_is_not_known() -> None:
    """An assignment in any command makes the value its own."""
    got = filled_in(["export COREOS_EC2_HOSTNAME=$(hostname -s)", *ENVSUBST])
    assert got.pieces("${COREOS_EC2_HOSTNAME}") is None


@pytest.mark.parametrize(
    ("command", "mark", "fact"), [(SED_AZURE, "@@HOSTNAME@@", HOSTNAME), (SED_AWS, "@@NAME@@", LOCAL)]
)
def test_sed_over_kubeadms_file_is_recognised(command: str, mark: str, fact: contentpb.FactKind.ValueType) -> None:
    """A mark that is replaced by what the metadata service says is a fact."""
    got = filled_in(["echo", command])
    assert got.commands == (1,)
    assert got.pieces(f"a{mark}") == [Piece(text="a"), Piece(fact=fact)]
    assert got.pieces("@@OTHER@@ ${X}") == [Piece(text="@@OTHER@@ ${X}")]


def test_a_host_name_without_its_last_label_is_not_the_short_one() -> None:
    """`%.*` cuts the last label only: the commands stay as they are, so that the node's name is that of today."""
    last = SHORTENED.replace("%%", "%")
    assert filled_in([last, *ENVSUBST]).pieces("${COREOS_OPENSTACK_HOSTNAME}") is None
