"""Addresses of objects: whatever a name is, it leads to no other object."""

import pytest

from slipway.kubernetes_api.failures import Invalid
from slipway.kubernetes_api.resources import LEASES, SECRETS, TOKEN_REVIEWS


def test_addresses_are_those_of_the_api() -> None:
    """With and without group, namespace, name and subresource."""
    assert SECRETS.path("n", "a.b-c") == "/api/v1/namespaces/n/secrets/a.b-c"
    assert SECRETS.path() == "/api/v1/secrets"
    assert LEASES.path("n", "a", "status") == "/apis/coordination.k8s.io/v1/namespaces/n/leases/a/status"
    assert TOKEN_REVIEWS.path("n") == "/apis/authentication.k8s.io/v1/tokenreviews"
    assert SECRETS.path("n", "a%2fb c\n") == "/api/v1/namespaces/n/secrets/a%252fb%20c%0A"


@pytest.mark.parametrize("part", ["../x", "..", ".", "a/b", "a?watch=1", "a#b", "/"])
def test_a_part_that_leads_elsewhere_is_refused(part: str) -> None:
    """In the place of a namespace, of a name and of a subresource; the message does not repeat it."""
    for address in ((part, "a"), ("n", part), ("n", "a", part)):
        with pytest.raises(Invalid) as refused:
            SECRETS.path(*address)
        assert "is not a valid namespace or name" in str(refused.value)
