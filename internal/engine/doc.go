// Package engine has what one installation can do, as typed calls for the command line, the API and serve alike. A call takes a
// request, uses planner, executor and store, and gives a read model of the package view back.
//
// It knows no flags, no routes and no exit codes, and prints nothing.
package engine
