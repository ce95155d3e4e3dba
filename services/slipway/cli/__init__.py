"""The command line for people: embedded (everything in this process, no port) or against a server."""
