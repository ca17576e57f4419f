package patra

// Some bad items are put aside; when it is a good part of a page, it is not the items that are wrong but what we believe
// about them, and a person must look before a whole source goes into quarantine.
const (
	poisonShare = 5 // a fifth
	poisonFloor = 5 // a few are never a pattern
)

// TooManyBadItems reports whether so many items are bad that none of them should be believed to be the exception.
func TooManyBadItems(bad, all int) bool { return bad > poisonFloor && ImplausibleShare(bad, all) }

// ImplausibleShare reports whether more of the items are bad than can be believed, however few they are so far.
func ImplausibleShare(bad, all int) bool { return bad*poisonShare > all }

// TooManyBadItemsAcross is the same of the items of many pages, each of which is too small to say anything. They have nothing to do with
// each other, and in the long run a few come together by chance: it takes twice as many.
func TooManyBadItemsAcross(bad, all int) bool { return bad > 2*poisonFloor && bad*poisonShare > all }
