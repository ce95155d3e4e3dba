package main

import "golang.org/x/sys/windows"

// bePatient has everything else on the machine go first.
func bePatient() {
	_ = windows.SetPriorityClass(windows.CurrentProcess(), windows.IDLE_PRIORITY_CLASS)
}
