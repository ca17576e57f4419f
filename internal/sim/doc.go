// Package sim is a provider that tells the truth about itself: it serves generated scholarly works over the real
// provider's protocol, habits included, and can be asked afterwards what a complete harvest must contain.
//
// Words. The World is what exists: so many papers on each day, all of it a function of the seed. A Paper is one of
// them, free of any provider's format. A Work is a paper as one provider serves it, byte for byte. A scroll is the
// server's memory of a walk that a client began with cursor=*. A fault is something done to a request on purpose.
//
// Nothing is stored: a paper is written anew whenever it is needed, so a million of them cost as much memory as one
// page. The only state is the open scrolls, and their number is bounded.
//
// What it never does: it never calls out, never writes a file, never serves text that somebody published, and never
// answers a parameter it does not understand as if it did. A sort, filter or field query that the real provider has
// and this one lacks is refused with the provider's own kind of 400. The one exception is select, which is accepted
// and without effect.
package sim
