package query

// Grammar is the query block of a source file: the fields that a provider knows, what each clause becomes, and how
// clauses are put together. It is data, stored with the plan, and never changes by being used.
type Grammar struct {
	Fields   Fields           `yaml:"fields" json:"fields,omitempty"`
	Rules    []Rule           `yaml:"render" json:"render,omitempty"`
	Params   map[string]Param `yaml:"params" json:"params,omitempty"`
	Language *Language        `yaml:"language" json:"language,omitempty"` // absent: the provider has parameters only
}

// Rule says what one kind of clause becomes: a fragment of the query language, or standard parameters.
//
// Templates hold {{v}} (TERM, TOKEN, IN), {{from}} and {{to}} (RANGE). In an IN rule the template is repeated for every
// value, unless Join puts all values into one {{v}}.
type Rule struct {
	Field   string             `yaml:"field" json:"field"`
	Op      Op                 `yaml:"op" json:"op"`
	Match   Match              `yaml:"match" json:"match,omitempty"`     // absent: every match that the field allows
	Negated bool               `yaml:"negated" json:"negated,omitempty"` // what NOT of the clause becomes
	Query   string             `yaml:"query" json:"query,omitempty"`
	Params  map[string]Strings `yaml:"params" json:"params,omitempty"`
	Join    string             `yaml:"join" json:"join,omitempty"`
}

// Param is where a standard parameter goes.
//
// The values of several clauses in one parameter all have to hold. A parameter without Join and without Repeat takes
// one value. Values of one field to which an IN rule repeats itself are alternatives, so there a field has one clause.
type Param struct {
	Name      string  `yaml:"name" json:"name"`
	Join      string  `yaml:"join" json:"join,omitempty"`           // put between several values
	Repeat    bool    `yaml:"repeat" json:"repeat,omitempty"`       // or send the parameter several times
	Refuse    string  `yaml:"refuse" json:"refuse,omitempty"`       // characters that a value must not hold
	Transform Strings `yaml:"transform" json:"transform,omitempty"` // LOWER, UPPER: done to each value, in this order
}
