package observe

import (
	"fmt"
	"log/slog"
	"runtime/debug"
)

// RecoverPanic gives what goroutines defer: it catches a panic, logs what it says without what nobody may see, and ends the
// process as the panic would have. Left alone, the runtime prints the text of a panic as it is, and that may be an address
// with a key in it.
func RecoverPanic(log *slog.Logger) func() {
	return func() {
		broken := recover()
		if broken == nil {
			return
		}
		log.Error("the program broke", "reason", fmt.Sprint(broken), "stack", string(debug.Stack()))
		crash()
	}
}

// crash ends the process. It panics in a goroutine of its own: with the first panic on its stack, the runtime would print
// that too.
func crash() {
	go func() { panic("the program broke; the line before says how") }()
	select {}
}
