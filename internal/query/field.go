package query

import (
	"bytes"
	"encoding/json"
	"slices"

	"patra"
)

// Fields are the fields of a provider by the name that queries use.
type Fields map[string]Field

// FieldType is what a field holds.
type FieldType string

// The types of field.
const (
	TypeText     FieldType = "TEXT"     // words
	TypeKeyword  FieldType = "KEYWORD"  // whole values
	TypeToken    FieldType = "TOKEN"    // entries of a vocabulary
	TypeDate     FieldType = "DATE"     // days
	TypeDateTime FieldType = "DATETIME" // moments
	TypeNumber   FieldType = "NUMBER"
)

// typeOps says what can be asked of each type at all.
var typeOps = map[FieldType][]Op{
	TypeText:     {OpTerm, OpIn, OpExists},
	TypeKeyword:  {OpTerm, OpIn, OpExists},
	TypeToken:    {OpToken, OpIn, OpExists},
	TypeDate:     {OpRange, OpExists},
	TypeDateTime: {OpRange, OpExists},
	TypeNumber:   {OpRange, OpIn, OpExists},
}

// typeMatches says how a TERM of each type can be compared: a keyword has no words inside.
var typeMatches = map[FieldType][]Match{
	TypeText:    matches,
	TypeKeyword: {MatchExact, MatchPrefix},
}

// End is one end of a range.
type End string

// The ends of a range.
const (
	EndFrom End = "FROM"
	EndTo   End = "TO"
)

// hole is the placeholder of the end.
func (e End) hole() string {
	if e == EndFrom {
		return holeFrom
	}
	return holeTo
}

// Upper says what a provider does with an upper bound.
type Upper string

// The two kinds of provider. INCLUSIVE means that the whole unit that the bound names is included: the day, the second.
const (
	Inclusive Upper = "INCLUSIVE"
	Exclusive Upper = "EXCLUSIVE"
)

// Sentinel is what a provider that needs both ends is sent for an absent one.
type Sentinel struct {
	From string `yaml:"from" json:"from,omitempty"`
	To   string `yaml:"to" json:"to,omitempty"`
}

// Field is what a provider can be asked about one field.
type Field struct {
	Type          FieldType  `yaml:"type" json:"type"`
	Ops           []Op       `yaml:"ops" json:"ops,omitempty"`
	Match         []Match    `yaml:"match" json:"match,omitempty"`                 // default: ANY for TEXT, EXACT for KEYWORD
	CaseSensitive bool       `yaml:"caseSensitive" json:"caseSensitive,omitempty"` // the provider tells case apart
	Negate        *Negate    `yaml:"negate" json:"negate,omitempty"`               // default: whatever the rules and the language can do
	Once          bool       `yaml:"once" json:"once,omitempty"`                   // the parameters hold one clause on it
	Open          []End      `yaml:"open" json:"open,omitempty"`                   // ends that may be absent
	Sentinel      Sentinel   `yaml:"sentinel" json:"sentinel,omitzero"`
	Precision     patra.Unit `yaml:"precision" json:"precision,omitempty"` // default for DATE: DAY
	Upper         Upper      `yaml:"upper" json:"upper,omitempty"`         // default for DATE and NUMBER: INCLUSIVE
	Format        string     `yaml:"format" json:"format,omitempty"`       // a named one or a Go layout
	Integer       bool       `yaml:"integer" json:"integer,omitempty"`     // NUMBER: the values are whole
}

func (f Field) matches() []Match {
	switch {
	case len(f.Match) > 0:
		return f.Match
	case f.Type == TypeKeyword:
		return []Match{MatchExact}
	}
	return []Match{MatchAny}
}

// Matches says how a term of the field can be compared; a field without terms has none.
func (f Field) Matches() []Match {
	if !slices.Contains(f.Ops, OpTerm) {
		return []Match{}
	}
	return f.matches()
}

func (f Field) precision() patra.Unit {
	if f.Precision == "" {
		return patra.UnitDay
	}
	return f.Precision
}

func (f Field) upper() Upper {
	if f.Upper == "" {
		return Inclusive
	}
	return f.Upper
}

// sentinel is what stands for an absent end.
func (f Field) sentinel(e End) string {
	if e == EndFrom {
		return f.Sentinel.From
	}
	return f.Sentinel.To
}

// negatable reports whether the file allows NOT over the op.
func (f Field) negatable(op Op) bool {
	switch {
	case f.Negate == nil:
		return true
	case f.Negate.Ops != nil:
		return slices.Contains(f.Negate.Ops, op)
	}
	return f.Negate.All
}

// Negate says of which ops a provider can take the NOT: all, none, or a list.
type Negate struct {
	All bool
	Ops []Op
}

// UnmarshalYAML reads a bool or a list of ops.
func (n *Negate) UnmarshalYAML(read func(any) error) error {
	if read(&n.All) == nil {
		return nil
	}
	return read(&n.Ops)
}

// MarshalJSON writes a bool or a list of ops.
func (n Negate) MarshalJSON() ([]byte, error) {
	if n.Ops != nil {
		return json.Marshal(n.Ops)
	}
	return json.Marshal(n.All)
}

// UnmarshalJSON reads both forms.
func (n *Negate) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		return json.Unmarshal(data, &n.Ops)
	}
	return json.Unmarshal(data, &n.All)
}
