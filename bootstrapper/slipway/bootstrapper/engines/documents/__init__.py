"""Typed documents that engines write, printed as Go prints them, with places for what is not known here."""
