"""Passwords for one use: random, and such that any domain accepts them and any shell, file or program hands them on."""

import secrets
import string

LENGTH = 40  # of 62 characters: 238 bits
_CLASSES = (string.ascii_lowercase, string.ascii_uppercase, string.digits)
_ALPHABET = "".join(_CLASSES)


def one_time_password() -> str:
    """Give a new password with characters of three classes, as the usual policy of a domain asks for."""
    while True:
        password = "".join(secrets.choice(_ALPHABET) for _ in range(LENGTH))
        if all(set(password) & set(members) for members in _CLASSES):
            return password
