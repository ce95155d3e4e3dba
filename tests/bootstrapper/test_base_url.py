"""An address that every machine uses is valid, or the server does not start."""

import pytest

from slipway.bootstrapper.base_url import is_base_url


@pytest.mark.parametrize(
    "text",
    ["https://a", "https://gateway.example.com:8443", "https://10.0.0.5/x/y-z_~.", "https://[fd00::1]:8443/x",
     "https://xn--gatway-cva.example/%20", "https://s3.example/bucket/prefix"],
)  # fmt: skip
def test_an_address_of_a_server_is_one(text: str) -> None:
    """By name or address, with a port and a folder."""
    assert is_base_url(text, {"https"})


@pytest.mark.parametrize(
    "text",
    ["", "https://", "https:///x", "http://a", "a.example", "https://a b", 'https://a"b', "https://a'b", "https://a\\b",
     "https://a`id`", "https://a$(id)", "https://a/x?y=1", "https://a/#x", "https://a?", "https://u:p@a", "https://a:",
     "https://a:x", "https://a:99999", "https://a:0", "https://[::1", "https://[nonsense]/", "https://a\nb",
     "https://a\0b", "https://[::1]evil.example/x", "https://[::1]a:443", "https://[fe80::1%eth0]/", "https://..",
     "https://a..b", "https://a\x7fb", "https://gat\xe9way.example", "https://a/\u200b", "https://a/{x}"],
)  # fmt: skip
def test_what_a_machine_could_not_use_is_none(text: str) -> None:
    """Nothing that a program on a machine would read as something else, or not at all."""
    assert not is_base_url(text, {"https"})
