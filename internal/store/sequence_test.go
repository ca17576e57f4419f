package store

import (
	"fmt"
	"testing"
)

// Where ids say nothing about order, a newer version may have a lower one, and an older version may not be among those that
// were read: it gets its number first all the same.
func TestVersionsAreNumberedInTheirOrder(t *testing.T) {
	read := []unnumberedEvent{{1, 0, 0}, {2, 7, 3}, {3, 8, 1}, {5, 7, 2}, {6, 0, 0}}
	siblings := []unnumberedEvent{{900, 7, 1}, {5, 7, 2}, {2, 7, 3}}
	got := fmt.Sprint(inOrder(read, siblings))
	if want := "[{1 0 0} {900 7 1} {3 8 1} {5 7 2} {6 0 0} {2 7 3}]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
