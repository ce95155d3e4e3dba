"""The patches of a ClusterClass reach the machines of a topology as the topology controller applies them."""

from typing import Any

import pytest

from tests.bootstrapper.importers.class_documents import (
    CONTROL_PLANE,
    FILES,
    add_file,
    contents,
    machines,
    patch,
    problem,
    text_of,
    workers,
)
from tests.bootstrapper.importers.manifest_texts import TOPOLOGY, by_name, manifests


def test_a_patch_of_the_control_plane_reaches_its_machines_only() -> None:
    """A value, as it stands."""
    found = machines([patch(CONTROL_PLANE, add_file("hello"))])
    assert contents(found["c-init"]) == {"/new": "hello"}
    assert contents(found["c-join"]) == {"/new": "hello"}
    assert contents(found["c-md-0"]) == {"/own": "own"}


@pytest.mark.parametrize(
    ("names", "reached"),
    [
        (("small",), True),
        (("*",), True),
        (("sm*",), True),
        (("*all",), True),
        (("other", "s*"), True),
        (("mall",), False),
    ],
)
def test_workers_are_selected_by_their_class(names: tuple[str, ...], reached: bool) -> None:
    """By whole names and by ends; a pool is no deployment."""
    found = machines([patch(workers(*names), add_file("w", "/spec/template/spec/files"))])
    assert contents(found["c-md-0"]) == ({"/new": "w"} if reached else {"/own": "own"})
    assert contents(found["c-mp-0"]) == {"/own": "own"}
    pools = machines([patch(workers("pool", pools=True), add_file("p", "/spec/template/spec/files"))])
    assert (contents(pools["c-md-0"]), contents(pools["c-mp-0"])) == ({"/own": "own"}, {"/new": "p"})


def test_items_are_added_in_front_and_at_the_end_and_fields_replaced_and_removed() -> None:
    """One patch after the other, each on what the former left."""
    path = "/spec/template/spec/files"
    item = {"path": "/last", "content": "l"}
    operations = [
        {"op": "add", "path": f"{path}/-", "value": item},
        {"op": "add", "path": f"{path}/0", "value": {"path": "/first", "content": "f"}},
    ]
    every = workers("*")
    found = machines([patch(every, *operations)])
    assert [file.path for file in found["c-md-0"].spec.os.files] == ["/first", "/own", "/last"]
    found = machines([patch(every, *operations), patch(every, {"op": "replace", "path": path, "value": [item]})])
    assert contents(found["c-md-0"]) == {"/last": "l"}
    found = machines([patch(every, {"op": "remove", "path": path})])
    assert contents(found["c-md-0"]) == {}


VARIABLES = [
    {"name": "text", "schema": {"openAPIV3Schema": {"type": "string", "default": "standard"}}},
    {
        "name": "deep",
        "schema": {
            "openAPIV3Schema": {
                "type": "object",
                "properties": {
                    "wanted": {"type": "boolean", "default": True},
                    "list": {"type": "array", "items": {"type": "object", "properties": {"a": {"default": "one"}}}},
                },
            }
        },
    },
]


def given(text: str, where: str = "") -> str:
    """Give a topology with values of variables, or with overrides for its deployment."""
    if where:
        return TOPOLOGY.replace("replicas: 4", f"replicas: 4, variables: {{overrides: {text}}}")
    return TOPOLOGY.replace("    workers:", f"    variables: {text}\n    workers:")


def test_a_value_comes_from_a_variable_its_default_or_an_override() -> None:
    """In this order: the override of these machines, the cluster's value, the default of the schema."""
    template = add_file("", "/spec/template/spec/files", template="[{path: /new, content: '{{ .text }}'}]")
    patches = [patch(workers("*"), template), patch(workers("*", pools=True), template)]
    found = machines(patches, VARIABLES)
    assert contents(found["c-md-0"]) == {"/new": "standard"}
    found = machines(patches, VARIABLES, given("[{name: text, value: mine}]"))
    assert contents(found["c-md-0"]) == {"/new": "mine"}
    found = machines(patches, VARIABLES, given("[{name: text, value: theirs}]", "deployment"))
    assert contents(found["c-md-0"]) == {"/new": "theirs"}
    assert contents(found["c-mp-0"]) == {"/new": "standard"}


def test_defaults_reach_into_objects_and_lists() -> None:
    """As the API server sets them; a path names fields and items."""
    item = {
        "op": "add",
        "path": f"{FILES}",
        "valueFrom": {"template": "[{path: /new, content: {{ (index .deep.list 0).a }}}]"},
    }
    plain = {"op": "add", "path": f"{FILES}/-", "value": {"path": "/b", "content": "b"}}
    content = {"op": "replace", "path": "/spec/template/spec/kubeadmConfigSpec/clusterConfiguration/imageRepository"}
    operations = [item, plain, {**content, "valueFrom": {"variable": "deep.list[0].a"}}]
    patches = [patch(CONTROL_PLANE, *operations, enabled_if="{{ .deep.wanted }}")]
    found = machines(patches, VARIABLES, given("[{name: deep, value: {list: [{}]}}]"))
    assert contents(found["c-init"]) == {"/new": "one", "/b": "b"}
    assert "one" in str(found["c-init"].spec.kubernetes)
    found = machines(patches, VARIABLES, given("[{name: deep, value: {list: [{}], wanted: false}}]"))
    assert contents(found["c-init"]) == {}


def test_built_in_values_tell_of_cluster_and_machines() -> None:
    """Names, versions and networks that the Cluster says."""
    names = "{{ .builtin.cluster.name }} {{ .builtin.cluster.namespace }} {{ .builtin.cluster.topology.class }}"
    own = ".builtin.machineDeployment"
    worker = f"{{{{ {own}.class }}}} {{{{ {own}.replicas }}}} {{{{ {own}.topologyName }}}}"
    files = "[{path: /new, content: '" + names + " " + worker + " {{ .builtin.machineDeployment.version }}'}]"
    found = machines([patch(workers("*"), add_file("", "/spec/template/spec/files", template=files))])
    assert contents(found["c-md-0"]) == {"/new": "c default quick small 4 md-0 v1.33.0"}
    version = "[{path: /new, content: '{{ .builtin.controlPlane.version }}'}]"
    found = machines([patch(CONTROL_PLANE, add_file("", template=version))])
    assert contents(found["c-init"]) == {"/new": "v1.33.0"}


def test_a_name_that_the_management_cluster_makes_up_is_refused_or_a_placeholder() -> None:
    """Nobody can know it; a first look goes on."""
    name = "[{path: /new, content: '{{ .builtin.controlPlane.name }}'}]"
    patches = [patch(CONTROL_PLANE, add_file("", template=name))]
    assert "only the management cluster knows" in problem(patches)
    found = by_name(manifests(text_of(patches), set_missing=True))
    assert contents(found["c-init"]) == {"/new": "c-placeholder"}


ENDPOINT = {
    "op": "add",
    "path": "/spec/template/spec/controlPlaneEndpoint",
    "value": {"host": "10.0.0.7", "port": 6444},
}


def test_the_endpoint_that_a_patch_gives_the_infrastructure_is_the_clusters() -> None:
    """Its template stands for the cluster that is made of it."""
    selector = {
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2",
        "kind": "DockerClusterTemplate",
        "matchResources": {"infrastructureCluster": True},
    }
    text = text_of([patch(selector, ENDPOINT)], topology=TOPOLOGY.replace("controlPlaneEndpoint", "clusterNetwork"))
    text = text.replace("clusterNetwork: {host: cp.example.com, port: 7443}", "paused: false")
    text = text.replace(
        "  controlPlane:\n",
        "  infrastructure: {templateRef: {kind: DockerClusterTemplate, name: dc}}\n  controlPlane:\n",
    )
    text += "---\napiVersion: infrastructure.cluster.x-k8s.io/v1beta2\nkind: DockerClusterTemplate\n"
    text += "metadata: {name: dc}\nspec: {template: {spec: {}}}\n"
    endpoint = by_name(manifests(text))["c-init"].cluster.endpoint
    assert (endpoint.host, endpoint.port) == ("10.0.0.7", 6444)


def test_a_patch_of_what_machines_are_made_of_tells_their_system() -> None:
    """One that cannot be applied costs what is read there, with a note: the machines stay."""
    selector = {
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2",
        "kind": "DockerMachineTemplate",
        "matchResources": {"controlPlane": True},
    }
    system = {"op": "add", "path": "/spec/template/spec/os", "value": "Linux"}
    found = machines([patch(selector, system)])
    assert found["c-init"].machine.target.os_family
    assert not found["c-md-0"].machine.target.os_family
    broken = manifests(text_of([patch(selector, {**system, "path": "/spec/nowhere/os"})]))
    assert "c-init" in by_name(broken)
    assert "a patch of the ClusterClass cannot be applied" in str(broken.notes)


PATCHES = "spec.patches[0]"
OPERATION = f"{PATCHES}.definitions[0].jsonPatches[0]"


@pytest.mark.parametrize(
    ("patches", "path"),
    [
        ([{"name": "p", "external": {"generateExtension": "e"}}], f"{PATCHES}.external"),
        ([patch(CONTROL_PLANE, add_file("", f"{FILES}/-"))], f"{OPERATION}.path"),
        ([patch(CONTROL_PLANE, add_file("", "/metadata/labels"))], f"{OPERATION}.path"),
        ([patch(CONTROL_PLANE, {"op": "remove", "path": f"{FILES}/0"})], f"{OPERATION}.path"),
        ([patch(CONTROL_PLANE, {"op": "replace", "path": FILES, "value": []})], f"{OPERATION}.path"),
        ([patch(CONTROL_PLANE, {"op": "add", "path": FILES})], OPERATION),
        ([patch(CONTROL_PLANE, add_file("", variable="nothing"))], f"{OPERATION}.valueFrom.variable"),
        ([patch(CONTROL_PLANE, add_file("", template="{{ range .x }}{{ end }}"))], f"{OPERATION}.valueFrom.template"),
        ([patch(CONTROL_PLANE, add_file("", template="a: 'b"))], f"{OPERATION}.valueFrom.template"),
        ([patch(CONTROL_PLANE, add_file("a"), enabled_if="{{ now }}")], f"{PATCHES}.enabledIf"),
        ([patch({**CONTROL_PLANE, "kind": "Other"}, add_file("a"))], f"{PATCHES}.definitions[0].selector"),
        ([patch(CONTROL_PLANE, {"op": "move", "path": FILES})], f"{OPERATION}.op"),
    ],
)
def test_what_cannot_be_applied_is_refused_where_it_stands(patches: list[Any], path: str) -> None:
    """Core would refuse it, too, or nobody knows its result."""
    assert problem(patches).partition(":")[0] == path


@pytest.mark.parametrize(
    ("variables", "path"),
    [
        ("[{name: texd, value: a}]", "spec.topology.variables[0].name"),
        ("[{name: text, value: a}, {name: text, value: b}]", "spec.topology.variables[1].name"),
        ("[]", "spec.topology.variables"),
    ],
)
def test_values_must_be_those_of_the_class(variables: str, path: str) -> None:
    """None unknown, none twice, none that is required missing."""
    further = [{"name": "must", "required": True, "schema": {"openAPIV3Schema": {"type": "string"}}}]
    definitions = [*VARIABLES, *(further if variables == "[]" else [])]
    topology = given(variables) if variables != "[]" else given("[{name: text, value: a}]")
    assert problem([patch(CONTROL_PLANE, add_file("a"))], definitions, topology).partition(":")[0] == path


def test_the_templates_of_the_class_stay_as_they_are_for_another_cluster() -> None:
    """Every cluster has patched copies of its own."""
    template = add_file("", template="[{path: /new, content: '{{ .builtin.cluster.name }}'}]")
    text = text_of([patch(CONTROL_PLANE, template)]) + "---" + TOPOLOGY.replace("name: c}", "name: d}")
    found = by_name(manifests(text))
    assert contents(found["c-init"]) == {"/new": "c"}
    assert contents(found["d-init"]) == {"/new": "d"}


@pytest.mark.parametrize(("condition", "applied"), [("{{ .lost.enabled }}", False), ("{{ not .lost }}", True)])
def test_a_condition_on_a_variable_without_value_does_not_hold(condition: str, applied: bool) -> None:
    """Cluster API prints such a value, which is not true; the value of a patch that lacks one is refused."""
    found = machines([patch(CONTROL_PLANE, add_file("new"), enabled_if=condition)])
    assert ("/new" in contents(found["c-init"])) is applied
