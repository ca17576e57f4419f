package source

import (
	"fmt"
	"time"

	"patra"
)

// File is a source as people write it.
type File struct {
	APIVersion string              `yaml:"apiVersion" json:"-"`
	Code       string              `yaml:"code" json:"code"`
	Name       string              `yaml:"name" json:"name"`
	Docs       string              `yaml:"docs" json:"docs,omitempty"`
	RecordType string              `yaml:"recordType" json:"record_type"`
	Defaults   Defaults            `yaml:"defaults" json:"defaults"`
	Endpoints  map[string]Endpoint `yaml:"endpoints" json:"endpoints"`
	Query      Query               `yaml:"query" json:"query"`
	Mapping    map[string]string   `yaml:"mapping" json:"mapping"`
}

// Defaults are the settings that every endpoint of a source shares.
type Defaults struct {
	HTTP  HTTP  `yaml:"http" json:"http"`
	Rate  Rate  `yaml:"rate" json:"rate"`
	Retry Retry `yaml:"retry" json:"retry"`
}

// HTTP is how a provider is spoken to.
type HTTP struct {
	BaseURL string            `yaml:"baseUrl" json:"base_url"`
	Headers map[string]string `yaml:"headers" json:"headers,omitempty"`
	Timeout Timeout           `yaml:"timeout" json:"timeout"`
	MaxBody int64             `yaml:"maxBody" json:"max_body"` // bytes after decompression
}

// Timeout bounds one request.
type Timeout struct {
	Connect Duration `yaml:"connect" json:"connect"`
	Read    Duration `yaml:"read" json:"read"` // until the headers are there
	Total   Duration `yaml:"total" json:"total"`
}

// Rate is what the provider permits.
type Rate struct {
	PerSecond float64 `yaml:"perSecond" json:"per_second"`
	Burst     int     `yaml:"burst" json:"burst"`
}

// Retry is how patiently one page is asked for.
type Retry struct {
	MaxAttempts int     `yaml:"maxAttempts" json:"max_attempts"`
	Backoff     Backoff `yaml:"backoff" json:"backoff"`
}

// Backoff is how long to wait between attempts.
type Backoff struct {
	Initial Duration `yaml:"initial" json:"initial"`
	Max     Duration `yaml:"max" json:"max"`
	Factor  float64  `yaml:"factor" json:"factor"`
	Jitter  float64  `yaml:"jitter" json:"jitter"`
}

// Endpoint is one place where records can be asked for.
type Endpoint struct {
	Role       string     `yaml:"role" json:"role"`
	Request    Request    `yaml:"request" json:"request"`
	Pagination Pagination `yaml:"pagination" json:"pagination"`
	Response   Response   `yaml:"response" json:"response"`
	Window     Window     `yaml:"window" json:"window"`
}

// Request is what never changes about a request.
type Request struct {
	Method string            `yaml:"method" json:"method"`
	Path   string            `yaml:"path" json:"path"`
	Query  map[string]string `yaml:"query" json:"query,omitempty"`
}

// Pagination is how one page leads to the next.
type Pagination struct {
	Type        string   `yaml:"type" json:"type"`
	PageSize    int      `yaml:"pageSize" json:"page_size"`
	MaxPageSize int      `yaml:"maxPageSize" json:"max_page_size"`
	SizeParam   string   `yaml:"sizeParam" json:"size_param"`
	TokenParam  string   `yaml:"tokenParam" json:"token_param"`
	Initial     string   `yaml:"initial" json:"initial"`
	Next        string   `yaml:"next" json:"next"`
	Token       Token    `yaml:"token" json:"token"`
	End         []string `yaml:"end" json:"end"`
}

// Token is how a provider's paging token behaves.
type Token struct {
	State  string       `yaml:"state" json:"state"`    // STATELESS: a page may be asked for again. STATEFUL: each request consumes it
	OnSame string       `yaml:"onSame" json:"on_same"` // what an unchanged token means: END, CONTINUE, ERROR
	TTL    patra.Period `yaml:"ttl" json:"ttl"`
}

// Response is where things stand in an answer.
type Response struct {
	Format    string   `yaml:"format" json:"format"`
	Items     string   `yaml:"items" json:"items"`
	ID        string   `yaml:"id" json:"id"`
	UpdatedAt string   `yaml:"updatedAt" json:"updated_at"`
	Total     Total    `yaml:"total" json:"total"`
	Volatile  []string `yaml:"volatile" json:"volatile,omitempty"` // parts that change without the record changing
}

// Total is where the provider says how much there is, and what that is worth.
type Total struct {
	Path  string      `yaml:"path" json:"path,omitempty"`
	Trust patra.Trust `yaml:"trust" json:"trust"`
}

// Window is how a source is asked for a stretch of time.
type Window struct {
	Field     string           `yaml:"field" json:"field"`
	Mode      patra.WindowMode `yaml:"mode" json:"mode"`
	Align     patra.Unit       `yaml:"align" json:"align"`
	Size      patra.Period     `yaml:"size" json:"size"`
	Precision patra.Unit       `yaml:"precision" json:"precision"`
	Upper     string           `yaml:"upper" json:"upper"`
	Order     string           `yaml:"order" json:"order,omitempty"`
	Earliest  *patra.Instant   `yaml:"earliest" json:"earliest,omitempty"`
	Origin    *patra.Instant   `yaml:"origin" json:"origin,omitempty"`
	SafetyLag *patra.Period    `yaml:"safetyLag" json:"safety_lag,omitempty"`
	Lookback  patra.Period     `yaml:"lookback" json:"lookback"`
	Overlap   patra.Period     `yaml:"overlap" json:"overlap"`
}

// Query is how fields of a question become parameters of the provider.
type Query struct {
	Fields map[string]Field `yaml:"fields" json:"fields"`
	Render []Rule           `yaml:"render" json:"render"`
	Params map[string]Param `yaml:"params" json:"params"`
}

// Field is something that can be asked about.
type Field struct {
	Type string   `yaml:"type" json:"type"`
	Ops  []string `yaml:"ops" json:"ops"`
}

// Rule turns one kind of clause into parameters.
type Rule struct {
	Field  string              `yaml:"field" json:"field"`
	Op     string              `yaml:"op" json:"op"`
	Params map[string][]string `yaml:"params" json:"params"`
}

// Param is the provider's name for a parameter, and how several values share it.
type Param struct {
	Name string `yaml:"name" json:"name"`
	Join string `yaml:"join" json:"join,omitempty"`
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
