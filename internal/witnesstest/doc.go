// Package witnesstest holds every seal against the truth: providers of every kind of paging whose lists change between any two
// requests are harvested by the real planner, executor and store, and a window that is SEALED must have lost no record that was in it,
// at every copy, from before the first until after the last request of its proof. It is tests only; nothing of it is in the program.
//
// Its words: a cell is a kind of provider, with a source file whose claims are true for it; a world is one window of such a provider,
// drawn from a seed; a family is what happens in a world; the truth of a window is what had to be stored; a false seal is a SEALED
// window with a truth record that is not; a false claim is a source file that says what is not true, to see that the judge finds it.
//
// A world's records, moves and copies are fixed by its seed and by the moments of its requests, which are simulated: the same seed is
// the same story.
package witnesstest
