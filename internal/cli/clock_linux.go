package cli

import "syscall"

// unsynced is the kernel's word for a clock that nobody corrects.
const unsynced = 0x40

// clockIsKept reports whether somebody corrects the clock; known is false where the kernel does not say.
func clockIsKept() (synced, known bool) {
	var t syscall.Timex // which asks, and sets nothing
	if _, err := syscall.Adjtimex(&t); err != nil {
		return false, false
	}
	return t.Status&unsynced == 0, true
}
