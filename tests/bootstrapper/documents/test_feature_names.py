"""The names of features, as whoever checks a spec knows them."""

from slipway.bootstrapper.documents.feature_names import feature_names
from tools.docgen.feature_ids import places


def test_they_are_those_of_the_reference() -> None:
    """Each that the reference page has, and no other: two walks of the same descriptors agree."""
    assert feature_names() == {place.id for place in places()}
