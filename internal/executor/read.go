package executor

import (
	"fmt"
	"slices"

	"patra"
	"patra/internal/source"
	"patra/internal/zstdchunks"
)

// read turns an answer into records. An item that cannot become one is quarantined, and the rest goes on.
func (r *run) read(program *source.Program, page patra.OpenPage, got response) (patra.PageResult, error) {
	res := patra.PageResult{Exchange: got.exchange, Response: got.digest(), BodySHA256: got.sum, Kept: got.kept, Merge: program.Merge(),
		Changes: program.Changes(), Gone: program.Gone()}
	p, err := program.ReadWithin(got.status, got.body, position(page), r.claim.Slice.Fetch)
	if err != nil {
		return res, err
	}
	res.After, res.HasNext, res.EndCode, res.Total, res.Repairs = p.Next, p.HasNext, p.End, p.Total, p.Repairs
	res.Records = make([]patra.Observation, 0, len(p.Items))
	keys := rowKeys{r: r}
	no := 0
	for o, err := range program.Records(&p, got.exchange.SentAt) {
		no++
		if page.Phase != patra.PhaseDetail {
			keys.add(o)
		}
		if err != nil {
			f := patra.AsFault(err)
			res.Quarantined = append(res.Quarantined, patra.RejectedItem{ItemNo: no, ID: o.ID, Code: f.Code, Path: f.Path, Fragment: patra.FragmentOf(o.Raw)})
			continue
		}
		res.Records = append(res.Records, o)
		r.note(&res, o.UpdatedAt)
	}
	res.Rows = keys.rows
	if page.Phase == patra.PhaseCensus {
		return res, nil
	}
	if r.second == nil || page.Phase == patra.PhaseDetail { // else they are ids, and no records
		res.Raw = rawPage(got, p.Apart, res.Records)
	}
	return res, r.tooManyBadItems(res)
}

// rawPage is what the raw content of records is part of. That is the answer as it is kept, where it is kept and has them as they
// are. An item of XML may have been completed by what stood around it: apart has all of them then, and is taken if all are records.
// Else they are put together anew.
func rawPage(got response, apart []byte, records []patra.Observation) patra.RawPage {
	if got.kept != nil && allIn(got.body, records) {
		return patra.RawPage{Body: got.body, Pieces: got.kept.Pieces}
	}
	size := 0
	for _, o := range records {
		size += len(o.Raw)
	}
	body := apart
	if size != len(apart) || !allIn(apart, records) {
		body = together(records, size)
	}
	_, each := zstdchunks.Pack(body)
	return patra.RawPage{Body: body, Pieces: each}
}

// allIn reports whether the raw content of all records is part of a body.
func allIn(body []byte, records []patra.Observation) bool {
	return !slices.ContainsFunc(records, func(o patra.Observation) bool {
		_, ok := patra.SpanIn(body, o.Raw)
		return !ok
	})
}

// together puts the raw content of records one behind the other.
func together(records []patra.Observation, size int) []byte {
	body := make([]byte, 0, size)
	for i, o := range records {
		start := len(body)
		body = append(body, o.Raw...)
		records[i].Raw = body[start:]
	}
	return body
}

// repeats says whether the walk goes round in circles: a page that is the one before, or a position that it had already. So does a
// link that leads away from the provider.
func (r *run) repeats(res patra.PageResult, position string) error {
	paging := r.program.Spec.Pagination.Type
	ended := !res.HasNext && paging == pageTime // which reads the last stretch again, to see that there is no more
	if len(res.Records)+len(res.Quarantined) > 0 && res.BodySHA256 == r.scan.lastBody && !ended {
		return &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeLoop, Text: "the provider sent the same page again"}
	}
	if res.HasNext {
		if err := r.program.Spec.CheckLink(r.claim.BaseURL, r.Config.Vars, res.After); err != nil {
			return err
		}
	}
	if r.program.Spec.Stateful() || r.scan.evidence.Seams() || !res.HasNext || res.After == position { // what the same position means, the source says
		return nil
	}
	if r.scan.been(res.After) {
		return &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeLoop, Path: r.program.Spec.Pagination.Next, Text: "the provider leads us back to a page that was read before"}
	}
	return nil
}

// tooManyBadItems refuses a page of which a good part cannot be read, or that is one of many small ones of which that is so.
func (r *run) tooManyBadItems(res patra.PageResult) error {
	bad, all := len(res.Quarantined), len(res.Quarantined)+len(res.Records)
	if patra.TooManyBadItems(bad, all) {
		return poison(res, bad, all, "of the page")
	}
	if bad == 0 {
		return nil
	}
	if bad, all = r.spoilage.with(res); patra.TooManyBadItemsAcross(bad, all) {
		return poison(res, bad, all, "that came last")
	}
	return nil
}

func poison(res patra.PageResult, bad, all int, of string) error {
	first := res.Quarantined[0]
	which := fmt.Sprintf("item %d", first.ItemNo)
	if first.ID != "" && len(first.ID) <= 100 {
		which += ", " + first.ID
	}
	return &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeSchema, Path: first.Path, Text: fmt.Sprintf("%d of %d items %s cannot be read (%s), the first of them is %s; has the provider changed its answers?", bad, all, of, first.Code, which)}
}

// position is where a page starts; a detail page starts nowhere, it is the answer to some ids.
func position(page patra.OpenPage) string {
	if page.Phase == patra.PhaseDetail {
		return ""
	}
	return page.Before
}

// strays reports whether a time lies outside of what the provider was asked for, so that its record is none of those that the
// provider counts. It is stored all the same. Midnight may be a date without a time of day, which is the whole day.
func (r *run) strays(at *patra.Instant) bool {
	sl := r.claim.Slice
	if at == nil || sl.Spec.Cursor != nil || sl.Spec.Window == nil || r.program.Spec.Window.OtherDate || sl.Fetch.Contains(*at) {
		return false
	}
	end := *at
	if patra.UnitDay.Floor(end) == end {
		end = patra.UnitDay.Next(end) - 1
	}
	return end < sl.Fetch.From || *at >= sl.Fetch.To
}

// note keeps the page's time range and counts what lies outside the window that the slice answers for.
func (r *run) note(res *patra.PageResult, at *patra.Instant) {
	if at == nil {
		return
	}
	// A walk that is bound by no filter brings records of all times, and so do ids.
	if sl := r.claim.Slice; sl.Spec.Cursor == nil && sl.Spec.Window != nil && !sl.Window.Contains(*at) {
		res.Outside++
	}
	if res.TimeMin == nil || *at < *res.TimeMin {
		res.TimeMin = at
	}
	if res.TimeMax == nil || *at > *res.TimeMax {
		res.TimeMax = at
	}
}
