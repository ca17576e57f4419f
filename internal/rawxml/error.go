package rawxml

import "fmt"

// Reason is why a text is refused.
type Reason byte

// The reasons.
const (
	Empty          Reason = iota + 1 // there is no element
	CutOff                           // the text ends inside an element
	Declares                         // it declares entities or elements of its own
	TwoRoots                         // there is another element behind the root
	Outside                          // there is text outside of the root
	TooDeep                          // elements nest too deeply
	TooLong                          // it has four gigabytes or more
	BadTag                           // what begins as a tag is none
	BadEnd                           // an end tag of another element than the open one
	BadText                          // a character, a byte or a reference that no document may have
	UnknownCharset                   // the charset that is declared is not known
	TooManyBroken                    // more elements are broken than are skipped
)

// Error says why a text is refused, and where.
type Error struct {
	Reason Reason
	At     int    // the place in the text, in bytes
	Name   string // of the element that is open there, or of the charset
}

// Error is the reason as a clause.
func (e *Error) Error() string {
	switch e.Reason {
	case Empty:
		return "it has no element"
	case CutOff:
		return "it ends inside of <" + e.Name + ">"
	case Declares:
		return "it declares entities or elements of its own"
	case TwoRoots:
		return fmt.Sprintf("a second document begins at byte %d", e.At)
	case Outside:
		return fmt.Sprintf("there is text outside of its root at byte %d", e.At)
	case TooDeep:
		return fmt.Sprintf("its elements nest more than %d deep at byte %d", maxDepth, e.At)
	case TooLong:
		return "it has four gigabytes or more"
	case BadEnd:
		return fmt.Sprintf("<%s> is open at byte %d, and another element is closed", e.Name, e.At)
	case BadText:
		return fmt.Sprintf("it has a character or a reference at byte %d that XML does not permit", e.At)
	case UnknownCharset:
		return fmt.Sprintf("its charset %q is not known", e.Name)
	case TooManyBroken:
		return fmt.Sprintf("more than %d of its elements are broken", maxBroken)
	}
	return fmt.Sprintf("what stands at byte %d is no tag", e.At)
}

// mostNamed is how much of a name is shown.
const mostNamed = 40

// fail notes the reason, and gives -1. What ends before a tag does is cut off.
func (d *Doc) fail(why Reason, at int) int {
	d.fault = Error{Reason: why, At: at}
	if len(d.open) > 0 {
		name := d.fullName(d.open[len(d.open)-1])
		d.fault.Name = string(name[:min(len(name), mostNamed)])
	}
	return -1
}
