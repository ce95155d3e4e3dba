"""The web page of reports, for people: a listener of its own, which machines never reach and which only reads."""
