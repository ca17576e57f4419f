package patra

// DetailID is an id that a search gave and whose record is fetched afterwards.
type DetailID struct {
	Seq int64
	ID  string
}

// What became of an id.
const (
	ItemPending Status = "PENDING"
	ItemDone    Status = "DONE"
	ItemMissing Status = "MISSING" // the provider gives no record for it, also when asked for it alone
	ItemBad     Status = "BAD"     // asking for it fails, also alone
)

// ItemMoves is the life of an id.
var ItemMoves = StateMachine{ItemPending: {ItemDone, ItemMissing, ItemBad}}
