package sim

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"time"
)

// TruthLine is one line of the truth journal as a file: a version of a record, and for how long it was there. The text
// itself is left out, since its hash tells it from every other.
type TruthLine struct {
	ID       string `json:"id"` // as a harvester names the record
	Number   int    `json:"number"`
	AtUS     int64  `json:"at_us"`              // the date that windows go by
	FromUS   int64  `json:"from_us,omitempty"`  // when it became visible; 0 for what was there from the beginning
	UntilUS  int64  `json:"until_us,omitempty"` // when another took its place; 0 for what is there now
	SHA256   string `json:"sha256"`             // of the item as it is served
	Deleted  bool   `json:"deleted,omitempty"`
	Poisoned bool   `json:"poisoned,omitempty"`
}

// Name is how a harvester names a record: where a provider joins several, an id is one only together with where it is from.
func (r *Record) Name() string {
	if r.Source != "" {
		return r.Source + "/" + r.ID
	}
	return r.ID
}

// WriteTruth writes the journal up to now, one JSON line a version.
func (p *Provider) WriteTruth(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	lines := json.NewEncoder(out)
	for v := range p.Journal() {
		sum := sha256.Sum256(v.Bytes)
		if err := lines.Encode(TruthLine{ID: v.Name(), Number: v.Number, AtUS: v.At.UnixMicro(), FromUS: microsOf(v.From), UntilUS: microsOf(v.Until),
			SHA256: hex.EncodeToString(sum[:]), Deleted: v.Deleted, Poisoned: v.Poisoned}); err != nil {
			return err
		}
	}
	return out.Flush()
}

func microsOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Codes are the shipped sources that the server can speak for.
var Codes = []string{"arxiv-oai", "crossref", "datacite", "europepmc", "oai", "openalex", "pubmed"}

// ByCode gives the provider that a shipped source of some code reads, with the date that its windows go by; nil if there is none.
func (s *Server) ByCode(code string) *Provider {
	switch code {
	case "arxiv-oai":
		return s.ArXiv()
	case "crossref":
		return s.Crossref()
	case "datacite":
		return s.DataCite()
	case "europepmc":
		return s.EuropePMC().By("UPDATE_DATE")
	case "oai":
		return s.OAI()
	case "openalex":
		return s.OpenAlex()
	case "pubmed":
		return s.PubMed()
	}
	return nil
}
