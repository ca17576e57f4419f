// Package simtest is a simulation of everything at once: a planner, several executors, the rate gate and a relay over one
// SQLite store, in front of a simulated provider that breaks, lies and changes, in simulated time. A year of daily
// harvests takes seconds. It is tests only; nothing of it is in the program.
//
// Its words: a world is a provider with its history, a fleet that harvests it, and everything that goes wrong, all drawn
// from one seed; a session is what happens when the planner's hour has come; weather is how the provider behaves during a
// session; a fate is what will befall a process: at some call it is killed, and nothing of it is heard again, or it stops
// for longer than its lease and then goes on as if nothing had happened; the judge compares what was stored with what was
// there, from outside; a wrong rule is a mistake that is made on purpose, to see that the judge finds it.
//
// What the seed fixes: the provider's records and what becomes of them, the weather of every session, the fates, the
// planner's clock, the hours. What it does not fix: in which order goroutines run that are ready at the same moment, which
// task of several a worker takes, jitter, and so which request is the tenth. The same seed is therefore the same story and
// not the same trace: a finding is repeated by a few runs of its seed, seldom only by many.
package simtest
