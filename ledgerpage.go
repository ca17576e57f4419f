package patra

import "encoding/json"

// LedgerPage is a row of the ledger with all that is known of its request and its answer.
type LedgerPage struct {
	Batch
	Spec     string          `json:"spec_fingerprint"`
	PageSize int             `json:"page_size"`
	Before   string          `json:"before"`
	After    string          `json:"after,omitempty"`
	TimeMin  *Instant        `json:"ts_min,omitempty"`
	TimeMax  *Instant        `json:"ts_max,omitempty"`
	Order    string          `json:"order,omitempty"`
	Request  json.RawMessage `json:"request,omitempty"`  // what was sent, without secrets
	Response json.RawMessage `json:"response,omitempty"` // status and headers, without secrets
}

// Answered is the status of the answer; 0 if there was none.
func (p LedgerPage) Answered() int {
	var said struct {
		Status int `json:"status"`
	}
	if len(p.Response) == 0 || json.Unmarshal(p.Response, &said) != nil {
		return 0
	}
	return said.Status
}

// PageVersion is a version of a record that a page brought.
type PageVersion struct {
	ID        string   `json:"id"`
	Rev       int64    `json:"rev"`
	Change    Decision `json:"change"`
	Hash      string   `json:"content_sha256"`
	UpdatedAt *Instant `json:"updated_at,omitempty"`
}

// StoredVersion is which version of a record is stored, and which page brought it.
type StoredVersion struct {
	BatchID int64
	Hash    string
}
