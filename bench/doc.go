// Command bench measures Patra beside what it is measured against, in the same run: the floor programs, which do nothing
// but the bare work, and other harvesters as their own documentation recommends them.
//
// Everybody reads the same pages from the same provider, which is a process of its own and answers from memory, and stores
// the same records under the same key. Each contender is a process: its time, processor time and peak memory are those that
// the operating system counted, and what it stored is counted afterwards. The order changes from round to round.
//
// Every goal is a line of the page that it writes: what is measured, how much is wanted, how much it is, whether that is enough, and
// if it is not, why. It never asserts how fast anything is: people read the page.
package main
