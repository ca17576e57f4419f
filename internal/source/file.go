package source

import (
	"encoding/json"
	"fmt"
	"time"

	"patra"
	"patra/internal/query"
)

// File is a source as people write it. A zero value is the same as a key that was left out.
type File struct {
	APIVersion string               `yaml:"apiVersion" json:"apiVersion"`
	Code       string               `yaml:"code" json:"code"`
	Name       string               `yaml:"name" json:"name"`
	Docs       string               `yaml:"docs" json:"docs,omitempty"`
	RecordType string               `yaml:"recordType" json:"recordType"`
	Parameters map[string]Parameter `yaml:"parameters" json:"parameters,omitempty"`
	Defaults   Blocks               `yaml:"defaults" json:"defaults"`
	Endpoints  map[string]Endpoint  `yaml:"endpoints" json:"endpoints"`
	Query      query.Grammar        `yaml:"query" json:"query"`
	Mapping    Mapping              `yaml:"mapping" json:"mapping,omitempty"`
	Merge      Merge                `yaml:"merge" json:"merge,omitzero"`
	Changes    Changes              `yaml:"changes" json:"changes,omitempty"`
	Update     Update               `yaml:"update" json:"update,omitzero"`
}

// Parameter is something the user of a source sets, such as the set of a repository.
type Parameter struct {
	Default  string `yaml:"default" json:"default,omitempty"`
	Required bool   `yaml:"required" json:"required,omitempty"`
	Doc      string `yaml:"doc" json:"doc,omitempty"`
	// Identity says whether another value names another provider, whose records are others; see (*File).identity.
	Identity *bool `yaml:"identity" json:"identity,omitempty"`
}

// Blocks are the settings that endpoints share, or change for themselves.
type Blocks struct {
	HTTP  HTTP  `yaml:"http" json:"http,omitzero"`
	Auth  Auth  `yaml:"auth" json:"auth,omitzero"`
	Rate  Rate  `yaml:"rate" json:"rate,omitzero"`
	Retry Retry `yaml:"retry" json:"retry,omitzero"`

	Breaker Breaker `yaml:"breaker" json:"breaker,omitzero"`
}

// HTTP is how a provider is spoken to.
type HTTP struct {
	BaseURL string            `yaml:"baseUrl" json:"baseUrl,omitempty"`
	Headers map[string]string `yaml:"headers" json:"headers,omitempty"`
	Timeout Timeout           `yaml:"timeout" json:"timeout,omitzero"`
	MaxBody int64             `yaml:"maxBody" json:"maxBody,omitempty"` // bytes after decompression
}

// Timeout bounds one request.
type Timeout struct {
	Connect Duration `yaml:"connect" json:"connect,omitzero"`
	Read    Duration `yaml:"read" json:"read,omitzero"` // until the headers are there
	Total   Duration `yaml:"total" json:"total,omitzero"`
}

// Retry is how patiently one page is asked for.
type Retry struct {
	MaxAttempts int     `yaml:"maxAttempts" json:"maxAttempts,omitempty"`
	AfterOn     []int   `yaml:"afterOn" json:"afterOn,omitempty"` // statuses whose Retry-After counts, beside 429 and 503
	Backoff     Backoff `yaml:"backoff" json:"backoff,omitzero"`
}

// Backoff is how long to wait between attempts.
type Backoff struct {
	Initial Duration `yaml:"initial" json:"initial,omitzero"`
	Max     Duration `yaml:"max" json:"max,omitzero"`
	Factor  float64  `yaml:"factor" json:"factor,omitempty"`
	Jitter  float64  `yaml:"jitter" json:"jitter,omitempty"`
}

// Endpoint is one place where records can be asked for.
type Endpoint struct {
	Role        string      `yaml:"role" json:"role"`
	Default     bool        `yaml:"default" json:"default,omitempty"` // taken when nobody names an endpoint
	Detail      *Detail     `yaml:"detail" json:"detail,omitempty"`
	Request     Request     `yaml:"request" json:"request"`
	Pagination  Pagination  `yaml:"pagination" json:"pagination,omitzero"`
	Consistency Consistency `yaml:"consistency" json:"consistency,omitzero"`
	Census      *Census     `yaml:"census" json:"census,omitempty"`
	Response    Response    `yaml:"response" json:"response"`
	Window      Window      `yaml:"window" json:"window,omitzero"`
	Mapping     Mapping     `yaml:"mapping" json:"mapping,omitempty"` // of answers that look different, in place of the source's
	Blocks      `yaml:",inline"`
}

// Mapping is the fields of a record and where they stand.
type Mapping map[string]string

// Detail says that a search gives ids only, and where the records behind them are fetched. An endpoint that gives records
// by id says it of itself, and names no other.
type Detail struct {
	Endpoint string `yaml:"endpoint" json:"endpoint,omitempty"`
	IDsParam string `yaml:"idsParam" json:"idsParam"`
	Batch    int    `yaml:"batch" json:"batch"`
	Join     string `yaml:"join" json:"join,omitempty"`
	Each     string `yaml:"each" json:"each,omitempty"` // how one id is written: {{id}}, or {{1}} and {{2}} for the parts of one that has several
}

// Request is what never changes about a request. A parameter whose name stands as ${name} in the path goes there.
type Request struct {
	Method  string            `yaml:"method" json:"method,omitempty"`
	Path    string            `yaml:"path" json:"path"`
	Query   map[string]string `yaml:"query" json:"query,omitempty"`
	Send    string            `yaml:"send" json:"send,omitempty"` // where parameters go: QUERY, FORM, JSON
	Headers map[string]string `yaml:"headers" json:"headers,omitempty"`
}

// Pagination is how one page leads to the next.
type Pagination struct {
	Type          string   `yaml:"type" json:"type,omitempty"`
	PageSize      int      `yaml:"pageSize" json:"pageSize,omitempty"`
	MaxPageSize   int      `yaml:"maxPageSize" json:"maxPageSize,omitempty"`
	SizeParam     string   `yaml:"sizeParam" json:"sizeParam,omitempty"`
	PositionParam string   `yaml:"positionParam" json:"positionParam,omitempty"`
	Initial       string   `yaml:"initial" json:"initial,omitempty"`
	Next          string   `yaml:"next" json:"next,omitempty"`
	Token         Token    `yaml:"token" json:"token,omitzero"`
	Cap           int64    `yaml:"cap" json:"cap,omitempty"` // the provider answers no position beyond it
	End           []string `yaml:"end" json:"end,omitempty"`

	// What a proof of completeness rests on. Nothing said is the weakest claim.
	Stability string `yaml:"stability" json:"stability,omitempty"` // what a position is: an index (SHIFTING), a unique key (KEYSET), a place in a frozen list (SNAPSHOT)
	Order     string `yaml:"order" json:"order,omitempty"`         // of the list: by the time of the window (ASC), by something that never changes (FIXED), by RELEVANCE, or none that holds
	Key       string `yaml:"key" json:"key,omitempty"`             // unique: no two records share the key of a position
}

// Census is how the ids of a whole window are asked for in one answer, to prove that a walk has read all of them. What it does not say
// is as for the records.
type Census struct {
	Query map[string]string `yaml:"query" json:"query,omitempty"` // in place of parameters of request.query
	Items string            `yaml:"items" json:"items"`
	ID    Paths             `yaml:"id" json:"id"`
}

// Consistency is how the servers of a provider agree with each other.
type Consistency struct {
	Lag patra.Period `yaml:"lag" json:"lag,omitzero"` // by which one may be behind another; zero: there is one, or all are the same
}

// Token is how a provider's paging token behaves.
type Token struct {
	State  string       `yaml:"state" json:"state,omitempty"`   // STATELESS: a page may be asked for again. STATEFUL: each request consumes it
	OnSame string       `yaml:"onSame" json:"onSame,omitempty"` // what an unchanged token means: END, CONTINUE, ERROR
	Encode string       `yaml:"encode" json:"encode,omitempty"` // ALWAYS, or NEVER for a token that is already encoded
	Alone  []string     `yaml:"alone" json:"alone,omitempty"`   // with a token only these other parameters are sent
	TTL    patra.Period `yaml:"ttl" json:"ttl,omitzero"`
}

// Response is where things stand in an answer.
type Response struct {
	Format     string      `yaml:"format" json:"format"`
	Strict     bool        `yaml:"strict" json:"strict,omitempty"` // XML that would have to be repaired is refused
	Items      string      `yaml:"items" json:"items"`
	Order      string      `yaml:"order" json:"order,omitempty"` // where the ids stand, when items is a map by id
	ID         Paths       `yaml:"id" json:"id"`
	NoID       string      `yaml:"noId" json:"noId,omitempty"` // QUARANTINE, or HASH: the content is its own id
	UpdatedAt  Paths       `yaml:"updatedAt" json:"updatedAt,omitempty"`
	Deleted    *FlagPath   `yaml:"deleted" json:"deleted,omitempty"`
	MergedInto string      `yaml:"mergedInto" json:"mergedInto,omitempty"` // where the id of the record stands that took this one's place
	MergedFrom string      `yaml:"mergedFrom" json:"mergedFrom,omitempty"` // where the ids of records stand whose place this one took
	Retracted  *FlagPath   `yaml:"retracted" json:"retracted,omitempty"`
	Signals    []Notice    `yaml:"signals" json:"signals,omitempty"`
	Total      Total       `yaml:"total" json:"total"`
	Volatile   []string    `yaml:"volatile" json:"volatile,omitempty"` // parts that change without the record changing
	Errors     []ErrorRule `yaml:"errors" json:"errors,omitempty"`
}

// Paths is one path or several. For an id all of them together are the id; for a time the first that is there counts.
type Paths []string

// UnmarshalYAML reads a text or a list of texts.
func (p *Paths) UnmarshalYAML(read func(any) error) error {
	var one string
	if read(&one) == nil {
		*p = Paths{one}
		return nil
	}
	var many []string
	err := read(&many)
	*p = many
	return err
}

// MarshalJSON writes what the user wrote.
func (p Paths) MarshalJSON() ([]byte, error) {
	if len(p) == 1 {
		return json.Marshal(p[0])
	}
	return json.Marshal([]string(p))
}

// UnmarshalJSON reads a text or a list of texts.
func (p *Paths) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*p = Paths{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(p))
}

// FlagPath is a place whose value says something about an item.
type FlagPath struct {
	Path   string `yaml:"path" json:"path"`
	Equals string `yaml:"equals" json:"equals,omitempty"` // empty: that it is there at all
}

// Total is where the provider says how much there is, and what that is worth.
type Total struct {
	Path  string      `yaml:"path" json:"path,omitempty"`
	Trust patra.Trust `yaml:"trust" json:"trust"`
}

// ErrorRule is an answer that means something else than its status says. The first rule that fits counts.
type ErrorRule struct {
	Status []int  `yaml:"status" json:"status,omitempty"` // empty: any
	Path   string `yaml:"path" json:"path,omitempty"`     // must be there in the body
	Match  string `yaml:"match" json:"match,omitempty"`   // and its text, or the whole body without a path, must match
	Means  string `yaml:"means" json:"means"`
}

// Window is how a source is asked for a stretch of time.
type Window struct {
	Field     string           `yaml:"field" json:"field,omitempty"`
	Mode      patra.WindowMode `yaml:"mode" json:"mode,omitempty"`
	Align     patra.Unit       `yaml:"align" json:"align,omitempty"`
	Size      patra.Period     `yaml:"size" json:"size,omitzero"`
	MinStep   patra.Period     `yaml:"minStep" json:"minStep,omitzero"` // nothing shorter is asked for
	MaxSpan   patra.Period     `yaml:"maxSpan" json:"maxSpan,omitzero"` // nothing longer, however little is in it
	Strategy  patra.Strategy   `yaml:"strategy" json:"strategy,omitempty"`
	Split     *Split           `yaml:"split" json:"split,omitempty"`
	Precision patra.Unit       `yaml:"precision" json:"precision,omitempty"`
	Upper     string           `yaml:"upper" json:"upper,omitempty"`
	Discover  *Discover        `yaml:"discover" json:"discover,omitempty"` // how precision and upper are found out, where they are DISCOVER
	Order     string           `yaml:"order" json:"order,omitempty"`
	OtherDate bool             `yaml:"otherDate" json:"otherDate,omitempty"` // field is another date than updatedAt
	Earliest  *patra.Instant   `yaml:"earliest" json:"earliest,omitempty"`
	Origin    *patra.Instant   `yaml:"origin" json:"origin,omitempty"`
	SafetyLag *patra.Period    `yaml:"safetyLag" json:"safetyLag,omitempty"`
	Lookback  patra.Period     `yaml:"lookback" json:"lookback,omitzero"`
	Overlap   patra.Period     `yaml:"overlap" json:"overlap,omitzero"`
}

// Discover is how the precision of a provider is found out: a request that it answers with a word for it.
type Discover struct {
	Query     map[string]string     `yaml:"query" json:"query,omitempty"`         // in place of request.query; nothing else is sent
	Precision string                `yaml:"precision" json:"precision,omitempty"` // where the word stands in the answer
	Words     map[string]patra.Unit `yaml:"words" json:"words,omitempty"`
}

// Duration is a length of time as people write it for requests: 10s, 100ms, 2m.
type Duration time.Duration

// UnmarshalText reads Go's notation.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a length of time; write 100ms, 10s or 2m", text)
	}
	*d = Duration(v)
	return nil
}

// MarshalText writes Go's notation.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }
