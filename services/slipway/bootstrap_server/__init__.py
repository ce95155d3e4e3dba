"""The bootstrapper as a server, with provisioners of a registry or in its own process."""
