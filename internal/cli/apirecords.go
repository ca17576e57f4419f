package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"patra/internal/api"
	"patra/internal/export"
	"patra/internal/view"
)

// mostExports is how many exports can be read at once. Each holds some megabytes for as long as its reader takes.
const mostExports = 16

// recordRoutes tell about single records, and take many of them out.
func (d *apiHandlers) recordRoutes(s *api.Server) {
	type one struct {
		Source     string `path:"source" maxLength:"47"`
		Type       string `path:"type" maxLength:"64"`
		ID         string `path:"id" maxLength:"1600" doc:"percent-encoded as one segment"`
		Repository string `query:"repository" maxLength:"255" doc:"repository of the record, if several behind the source have its id"`
		Date       string `query:"date" maxLength:"40" doc:"when the provider changed it, of a record that is not stored, by the date that the source is asked by"`
	}
	api.Get(s, "/records/{source}/{type}/{id}/why", api.Look, api.Doc{ID: "why-record", Summary: "What is known about one record, also about one that is not stored"}, func(ctx context.Context, in *one) (view.RecordWhy, error) {
		at, err := instantField("date", in.Date)
		if err != nil {
			return view.RecordWhy{}, err
		}
		w, err := d.app.explainRecord(ctx, d.store, view.RecordName{Source: in.Source, Type: in.Type, Repository: in.Repository, ID: in.ID}, at)
		if err == nil && w.Record != nil && !api.SeesAnswers(ctx) {
			w.Record.Raw = nil
		}
		return w, err
	})
	type wish struct {
		Format       string   `query:"format" enum:"jsonl,csv" default:"jsonl"`
		Sources      []string `query:"source" maxItems:"50" doc:"only these sources"`
		Type         string   `query:"type" maxLength:"64" doc:"only this record type"`
		Where        []string `query:"where,explode" maxItems:"20" doc:"condition on a field, such as type=book; may be given several times"`
		From         string   `query:"updated_from" maxLength:"40" doc:"only what the provider changed from then on"`
		To           string   `query:"updated_to" maxLength:"40" doc:"only what the provider changed before"`
		ChangedSince string   `query:"changed_since" maxLength:"40" doc:"only what changed here since"`
		Deleted      string   `query:"deleted" enum:"include,exclude,only" default:"include"`
		Missing      bool     `query:"missing" doc:"only what the provider refused when asked by id, and what is not gone yet"`
		Gone         string   `query:"gone" enum:"include,exclude,only" default:"include" doc:"what the provider refused so often that it is gone; only and missing together are both"`
		Fields       []string `query:"fields" maxItems:"200" doc:"only these mapped fields"`
		Columns      []string `query:"columns" maxItems:"200" doc:"csv: the columns"`
		Raw          bool     `query:"raw" doc:"with what the provider sent"`
		Limit        int64    `query:"limit" minimum:"0" doc:"at most so many, oldest first; 0 is all"`
	}
	api.Stream(s, "/records/export", api.Look, api.Doc{ID: "export-records", Summary: "Records as JSON lines or CSV, streamed", Most: mostExports}, func(ctx context.Context, in *wish) (func(http.ResponseWriter, *http.Request), error) {
		if in.Raw || slices.Contains(in.Columns, "raw") {
			if err := api.RequireEvidence(ctx, "raw"); err != nil {
				return nil, err
			}
		}
		f := exportFlags{format: in.Format, sources: in.Sources, recordType: in.Type, where: in.Where, from: in.From, to: in.To, changedSince: in.ChangedSince, deleted: in.Deleted, missing: in.Missing, gone: in.Gone,
			fields: in.Fields, columns: in.Columns, raw: in.Raw, rawSaid: true, separator: "; ", limit: in.Limit}
		e, err := d.app.streaming(ctx, f)
		if err != nil {
			return nil, err
		}
		return func(w http.ResponseWriter, r *http.Request) { e.stream(w, r) }, nil
	})
}

// exportStream is an export that somebody reads as it comes.
type exportStream struct{ *exportRun }

// streaming prepares an export: all that can be wrong with what was asked is found before the first byte.
func (a *app) streaming(ctx context.Context, f exportFlags) (exportStream, error) {
	ask, err := f.ask()
	if err != nil {
		return exportStream{}, err
	}
	s, err := a.open(ctx)
	if err != nil {
		return exportStream{}, err
	}
	if err := a.knownSources(ctx, s, f.sources); err != nil {
		return exportStream{}, err
	}
	e := &exportRun{a: a, s: s, flags: f, exportRequest: ask, began: time.Now()}
	if f.table() {
		// What a caller wrote does not go to the log of the server, where it could be taken for a line of ours.
		if e.job.Form.Columns, err = a.columnsFor(ctx, s, f, io.Discard); err != nil {
			return exportStream{}, err
		}
	}
	e.extract.UpTo, err = s.Newest(ctx)
	return exportStream{e}, err
}

var exportTypes = map[string]string{export.JSONL: "application/x-ndjson", export.CSV: "text/csv; charset=utf-8"}

// stream writes the records. An export that is cut off ends with a broken connection, and not as if that were all.
func (e exportStream) stream(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", exportTypes[e.flags.format])
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", "records."+e.flags.format))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	out := &flushWriter{w: w}
	if _, err := out.Write(nil); err != nil { // the headers go at once: nobody keeps the rest for a tag
		panic(http.ErrAbortHandler)
	}
	sink, err := export.NewStream(out, e.job.Form)
	if err == nil {
		e.sink = sink
		err = e.take(r.Context(), func() {})
	}
	if err == nil {
		_, err = sink.Seal()
	}
	if err != nil {
		if r.Context().Err() == nil {
			e.a.logger(*e.a.config).Error("an export was cut off", "records", e.written, "reason", err.Error())
		}
		panic(http.ErrAbortHandler)
	}
}
