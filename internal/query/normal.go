package query

import (
	"slices"
	"strings"
)

// Normalise gives the one spelling of a question that is hashed: nested AND and OR are flat, constants are folded,
// double NOT is gone, and children stand sorted without repetition. The answer to the question stays the same.
//
// It is not a theorem prover: two trees that mean the same by deeper laws keep different spellings.
func Normalise(n Node) Node {
	switch n.Op {
	case OpNot:
		return normalNot(n)
	case OpAnd, OpOr:
		return normalList(n)
	case OpIn:
		values := slices.Clone(n.Values)
		slices.Sort(values)
		n.Values = slices.Compact(values)
	case OpRange:
		if n.Range == RangeDateTime {
			n.Range = "" // the stored form of old windows
		}
	}
	return n
}

func normalNot(n Node) Node {
	if len(n.Args) != 1 {
		return n // invalid; Validate says so
	}
	arg := Normalise(n.Args[0])
	switch {
	case arg.Op == OpConst && arg.Value != nil:
		return Const(!*arg.Value)
	case arg.Op == OpNot && len(arg.Args) == 1:
		return arg.Args[0]
	}
	return Not(arg)
}

func normalList(n Node) Node {
	neutral := n.Op == OpAnd // TRUE changes no AND, FALSE no OR; the other one decides
	var args []Node
	for _, arg := range n.Args {
		arg = Normalise(arg)
		switch {
		case arg.is(!neutral):
			return arg
		case arg.is(neutral):
		case arg.Op == n.Op:
			args = append(args, arg.Args...)
		default:
			args = append(args, arg)
		}
	}
	args = distinct(args)
	switch len(args) {
	case 0:
		return Const(neutral)
	case 1:
		return args[0]
	}
	return Node{Op: n.Op, Args: args}
}

// distinct sorts by the stored form, which is as good an order as any and needs no rule for new ops.
func distinct(args []Node) []Node {
	type keyed struct {
		key string
		Node
	}
	list := make([]keyed, len(args))
	for i, arg := range args {
		list[i] = keyed{string(arg.JSON()), arg}
	}
	slices.SortFunc(list, func(a, b keyed) int { return strings.Compare(a.key, b.key) })
	list = slices.CompactFunc(list, func(a, b keyed) bool { return a.key == b.key })
	out := make([]Node, len(list))
	for i, k := range list {
		out[i] = k.Node
	}
	return out
}
