"""Writes docs/reference from what the programs themselves go by: descriptors, tables, commands and settings.

A reference page that a person keeps by hand is wrong within a month. Everything here is derived; what cannot be
derived stands in docs/explanation and docs/how-to.
"""
