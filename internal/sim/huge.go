package sim

import "strings"

// hugePlace is which paper of every other day has an abstract that no journal would print.
const hugePlace = 3

var hugeAbstract = strings.Repeat("There is more to be said about this than fits on a page. ", 4500)
