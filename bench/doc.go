// Command bench measures Patra beside what it is measured against, in the same run: the floor programs, which do nothing
// but the bare work, and other harvesters as their own documentation recommends them.
//
// Everybody reads the same pages from the same provider, which is a process of its own and answers from memory, and stores
// the same records under the same key. Each contender is a process: its time, processor time and peak memory are those that
// the operating system counted, and what it stored is counted afterwards. The order changes from round to round.
//
// It never asserts how fast anything is: it writes a table, and people read it.
package main
