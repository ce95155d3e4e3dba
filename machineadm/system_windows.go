package main

// systemCommands are those of Windows only.
func systemCommands() map[string]command { return nil }
