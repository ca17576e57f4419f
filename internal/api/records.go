package api

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"

	"patra"
	"patra/internal/store"
	"patra/internal/view"
)

// RecordList is a part of the records that fit.
type RecordList struct {
	List[patra.RecordSummary]
	Looked int `json:"looked" doc:"how many records were looked at; a call ends at twenty thousand, and next_cursor goes on"`
}

// recordFilter is which records are wanted.
type recordFilter struct {
	Limit        int      `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"at most so many"`
	Cursor       string   `query:"cursor" maxLength:"2000" doc:"next_cursor of the part before"`
	Source       string   `query:"source" maxLength:"64"`
	Type         string   `query:"type" maxLength:"64"`
	ID           string   `query:"id" maxLength:"512" doc:"the beginning of ids; with source"`
	Repository   string   `query:"repository" maxLength:"255" doc:"only of this repository, of a source that has several"`
	Where        []string `query:"where,explode" maxItems:"20" doc:"field=value, field!=value, field~text, or a comparison; may be given several times"`
	Fields       []string `query:"fields" maxItems:"100" doc:"only these fields"`
	ChangedSince string   `query:"changed_since" maxLength:"40" doc:"only what changed here since; with source"`
	UpdatedFrom  string   `query:"updated_from" maxLength:"40" doc:"only what the provider changed from then on"`
	UpdatedTo    string   `query:"updated_to" maxLength:"40" doc:"only what the provider changed before"`
	Deleted      bool     `query:"deleted" doc:"only what the provider deleted"`
	Missing      bool     `query:"missing" doc:"only what the provider refused when asked by id, and what is not gone yet"`
	Gone         bool     `query:"gone" doc:"only what the provider refused so often that it is gone; with missing both"`
}

// query is what the store understands.
func (w recordFilter) query() (q store.RecordQuery, err error) {
	q = store.RecordQuery{Source: w.Source, Type: w.Type, IDPrefix: w.ID, Repository: w.Repository, Deleted: w.Deleted, Missing: w.Missing, Gone: w.Gone, Limit: int64(w.Limit)}
	if w.Source == "" && (w.ID != "" || w.ChangedSince != "") {
		return q, Refuse(http.StatusUnprocessableEntity, "say the source as well: there is no index of ids or changes over all sources")
	}
	for _, text := range w.Where {
		if len(text) > 1000 {
			return q, Refuse(http.StatusUnprocessableEntity, "a condition has at most 1000 letters")
		}
		t, err := patra.ParseFieldTest(text)
		if err != nil {
			return q, Refuse(http.StatusUnprocessableEntity, "where: %s", err)
		}
		q.Where = append(q.Where, t)
	}
	for _, at := range []struct {
		name, text string
		into       **patra.Instant
	}{{"changed_since", w.ChangedSince, &q.ChangedSince}, {"updated_from", w.UpdatedFrom, &q.UpdatedFrom}, {"updated_to", w.UpdatedTo, &q.UpdatedTo}} {
		if at.text == "" {
			continue
		}
		i, err := moment(at.name, at.text)
		if err != nil {
			return q, err
		}
		*at.into = &i
	}
	return q, nil
}

// record names one.
type record struct {
	Source     string `path:"source" maxLength:"64"`
	Type       string `path:"type" maxLength:"64"`
	ID         string `path:"id" maxLength:"512" doc:"percent-encoded, as one segment"`
	Repository string `query:"repository" maxLength:"255" doc:"repository of the record, if several behind the source have its id"`
}

// records registers looking at what was stored, and at what could not be.
func (s *Server) records() {
	Get(s, "/records", Look, Doc{ID: "records", Summary: "Records, those that changed last first; with id in the order of ids"}, func(ctx context.Context, in *recordFilter) (RecordList, error) {
		out := RecordList{List: All[patra.RecordSummary](nil)}
		q, err := in.query()
		if err != nil {
			return out, err
		}
		from, err := recordPosition(in.Cursor)
		if err != nil {
			return out, err
		}
		if len(q.Where) > 0 { // each record that is looked at is taken apart
			leave, err := s.heavy.acquire(ctx)
			if err != nil {
				return out, err
			}
			defer leave()
		}
		part, err := s.Store.FindPart(ctx, q, from, mostWalked)
		if err != nil {
			return out, err
		}
		for _, r := range part.Records {
			out.Items = append(out.Items, patra.SummarizeRecord(r, in.Fields))
		}
		out.Looked = part.Looked
		if part.Next != nil {
			b, err := json.Marshal(part.Next)
			if err != nil {
				return out, err
			}
			out.Next = base64.RawURLEncoding.EncodeToString(b)
		}
		return out, nil
	})
	Get(s, "/records/{source}/{type}/{id}", Look, Doc{ID: "record", Summary: "One record, with the work that brought it, and with what the provider sent last for those who have the grant evidence"}, func(ctx context.Context, in *record) (ShownRecord, error) {
		rec, err := s.record(ctx, in)
		if err != nil {
			return ShownRecord{}, err
		}
		if rec.Lineage, err = s.Store.Lineage(ctx, rec.BatchID); err == nil && rec.Lineage != nil {
			rec.Lineage.Spec, rec.Lineage.Expr = rec.SpecFingerprint, rec.ExprHash
		}
		return showRecord(ctx, *rec), err
	})
	Get(s, "/records/{source}/{type}/{id}/history", Look, Doc{ID: "record-history", Summary: "Every version of a record and the work that brought it, oldest first"}, func(ctx context.Context, in *record) (List[store.VersionEntry], error) {
		rec, err := s.record(ctx, in)
		if err != nil {
			return List[store.VersionEntry]{}, err
		}
		all, err := s.Store.VersionHistory(ctx, *rec)
		return All(all), err
	})
	s.quarantineRoutes()
}

// SeesAnswers reports whether the caller may see what providers answered.
func SeesAnswers(ctx context.Context) bool { return CallerOf(ctx).May(Inspect) }

// ShownRecord is a record as its caller may see it.
type ShownRecord struct {
	patra.Record
	Withheld bool `json:"raw_withheld,omitempty" doc:"what the provider sent is left out: the caller has not the grant evidence"`
}

func showRecord(ctx context.Context, r patra.Record) ShownRecord {
	if SeesAnswers(ctx) {
		return ShownRecord{Record: r}
	}
	withheld := len(r.Raw) > 0
	r.Raw = nil
	return ShownRecord{r, withheld}
}

// RequireEvidence refuses a caller who may not see what providers answered.
func RequireEvidence(ctx context.Context, what string) error {
	if SeesAnswers(ctx) {
		return nil
	}
	return Refuse(http.StatusForbidden, "%s is what providers answered: your token needs the grant evidence", what)
}

// recordPosition reads a position that a list has given.
func recordPosition(cursor string) (*store.RecordPosition, error) {
	if cursor == "" {
		return nil, nil
	}
	var at store.RecordPosition
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || json.Unmarshal(b, &at) != nil || at == (store.RecordPosition{}) {
		return nil, badCursor()
	}
	return &at, nil
}

// record finds one.
func (s *Server) record(ctx context.Context, in *record) (*patra.Record, error) {
	rec, err := view.FindRecord(ctx, s.Store, view.RecordName{Source: in.Source, Type: in.Type, Repository: in.Repository, ID: in.ID})
	if err == nil && rec == nil {
		err = NotFound("record", in.Source+"/"+in.Type+"/"+in.ID)
	}
	return rec, err
}

// QuarantinedItem is an item with what the provider sent.
type QuarantinedItem struct {
	patra.QuarantineItem
	Fragment  string `json:"fragment" doc:"as text; what is not is replaced"`
	Truncated bool   `json:"truncated"`
	Withheld  bool   `json:"fragment_withheld,omitempty" doc:"the caller has not the grant evidence"`
}

// mostText is how much of a body or a fragment is shown.
const mostText = 1 << 20

// quarantineRoutes registers what is in quarantine.
func (s *Server) quarantineRoutes() {
	type narrow struct {
		Page
		Source     string       `query:"source" maxLength:"64"`
		Status     patra.Status `query:"status" maxLength:"32"`
		Code       string       `query:"code" maxLength:"64"`
		Record     string       `query:"record" maxLength:"512" doc:"id of a record; with source"`
		Repository string       `query:"repository" maxLength:"255" doc:"only of this repository, of a source that has several"`
	}
	Get(s, "/quarantine", Look, Doc{ID: "quarantine", Summary: "Items that could not become records, newest first"}, func(ctx context.Context, in *narrow) (List[patra.QuarantineItem], error) {
		p, err := in.part()
		if err == nil {
			err = knownState(in.Status, patra.QuarantineMoves)
		}
		if err != nil {
			return List[patra.QuarantineItem]{}, err
		}
		if in.Record != "" && in.Source == "" {
			return List[patra.QuarantineItem]{}, Refuse(http.StatusUnprocessableEntity, "say the source as well: ids are those of a source")
		}
		rows, err := s.Store.Quarantine(ctx, store.QuarantineFilter{Source: in.Source, Status: in.Status, Code: in.Code, RecordID: in.Record, Repository: in.Repository, Before: p.Before, Limit: p.Limit, Walk: p.Walk})
		return partialListPage(in.Page, rows, func(q patra.QuarantineItem) int64 { return q.ID }, p.Walk), err
	})
	Get(s, "/quarantine/{id}", Look, Doc{ID: "quarantined", Summary: "One item, with what the provider sent for those who have the grant evidence"}, func(ctx context.Context, in *ByID) (QuarantinedItem, error) {
		q, err := s.Store.QuarantineItem(ctx, in.ID)
		if err != nil {
			return QuarantinedItem{}, err
		}
		if !SeesAnswers(ctx) {
			return QuarantinedItem{QuarantineItem: q, Withheld: len(q.Fragment) > 0}, nil
		}
		text, cut := shown(q.Fragment)
		return QuarantinedItem{QuarantineItem: q, Fragment: text, Truncated: cut}, nil
	})
}
