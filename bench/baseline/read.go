package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

func (w *work) get(ctx context.Context, address string, form url.Values) ([]byte, error) {
	method, body := http.MethodGet, io.Reader(nil)
	if form != nil {
		method, body = http.MethodPost, strings.NewReader(form.Encode())
	}
	req, err := http.NewRequestWithContext(ctx, method, w.base+address, body)
	if err != nil {
		return nil, err
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := w.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	got := bytes.NewBuffer(make([]byte, 0, max(res.ContentLength, 512)+bytes.MinRead))
	if _, err := got.ReadFrom(res.Body); err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: status %d", address, res.StatusCode)
	}
	return got.Bytes(), nil
}

// works reads the works of a day by offsets until a page is empty.
func (w *work) works(ctx context.Context, day time.Time, to chan<- batch) error {
	q := url.Values{"filter": {"from-index-date:" + plain(day) + ",until-index-date:" + plain(day)}, "sort": {"indexed"}, "order": {"asc"}, "rows": {fmt.Sprint(w.rows)}}
	for no, offset := 1, 0; ; no++ {
		q.Set("offset", fmt.Sprint(offset))
		body, err := w.get(ctx, "/works?"+q.Encode(), nil)
		if err != nil {
			return err
		}
		b := batch{day: day, no: no}
		if w.mode == "fetch" {
			n := bytes.Count(body, []byte(`"DOI":`))
			b.records = make([]record, n)
		} else if b.records, err = items(body); err != nil {
			return err
		}
		if len(b.records) == 0 {
			return nil
		}
		offset += len(b.records)
		to <- b
	}
}

// items finds the works of a page by their places in the text, which must be valid.
func items(body []byte) ([]record, error) {
	if !gjson.ValidBytes(body) {
		return nil, errors.New("a page is no JSON")
	}
	var all []record
	gjson.GetBytes(body, "message.items").ForEach(func(_, v gjson.Result) bool {
		found := gjson.GetMany(v.Raw, "DOI", "indexed.date-time")
		all = append(all, record{id: found[0].Str, updated: found[1].Str, raw: body[v.Index : v.Index+len(v.Raw)]})
		return true
	})
	return all, nil
}

// articles reads the ids of a day, and then the articles behind them.
func (w *work) articles(ctx context.Context, day time.Time, to chan<- batch) error {
	const most, together = "5000", 200
	var ids []string
	for {
		body, err := w.get(ctx, "/entrez/eutils/esearch.fcgi", url.Values{"db": {"pubmed"}, "retmode": {"json"}, "term": {"all[sb]"}, "datetype": {"edat"},
			"mindate": {slashed(day)}, "maxdate": {slashed(day)}, "retmax": {most}, "retstart": {fmt.Sprint(len(ids))}})
		if err != nil {
			return err
		}
		before := len(ids)
		gjson.GetBytes(body, "esearchresult.idlist").ForEach(func(_, v gjson.Result) bool {
			ids = append(ids, v.Str)
			return true
		})
		if len(ids) == before {
			break
		}
	}
	for no := 1; len(ids) > 0; no++ {
		n := min(together, len(ids))
		body, err := w.get(ctx, "/entrez/eutils/efetch.fcgi", url.Values{"db": {"pubmed"}, "retmode": {"xml"}, "id": {strings.Join(ids[:n], ",")}})
		if err != nil {
			return err
		}
		b := batch{day: day, no: no}
		switch w.mode {
		case "fetch":
			b.records = make([]record, n)
		case "dom":
			b.records, err = dom(body, []string{"PubmedArticle", "PubmedBookArticle"}, "PMID", "DateRevised")
		default:
			b.records, err = articles(body)
		}
		if err != nil {
			return err
		}
		ids = ids[n:]
		to <- b
	}
	return nil
}

// articles finds the articles of a page, and the chapters of books among them.
func articles(body []byte) ([]record, error) {
	all, err := spans(body, "<PubmedArticle>", "</PubmedArticle>", "<PMID", dateRevised)
	if err != nil {
		return nil, err
	}
	books, err := spans(body, "<PubmedBookArticle>", "</PubmedBookArticle>", "<PMID", dateRevised)
	return append(all, books...), err
}

// archive reads the records of a day from list to list.
func (w *work) archive(ctx context.Context, day time.Time, to chan<- batch) error {
	q := url.Values{"verb": {"ListRecords"}, "metadataPrefix": {"oai_dc"}, "from": {plain(day) + "T00:00:00Z"}, "until": {plain(day) + "T23:59:59Z"}}
	for no := 1; ; no++ {
		body, err := w.get(ctx, "/oai?"+q.Encode(), nil)
		if err != nil {
			return err
		}
		b := batch{day: day, no: no}
		switch w.mode {
		case "fetch":
			b.records = make([]record, bytes.Count(body, []byte("<identifier>")))
		case "dom":
			b.records, err = dom(body, []string{"record"}, "identifier", "datestamp")
		default:
			b.records, err = spans(body, "<record>", "</record>", "<identifier", func(raw []byte) string { return textAfter(raw, "<datestamp>") })
		}
		if err != nil {
			return err
		}
		to <- b
		_, token, ok := bytes.Cut(body, []byte("<resumptionToken"))
		if !ok {
			return nil
		}
		_, token, _ = bytes.Cut(token, []byte(">"))
		token, _, _ = bytes.Cut(token, []byte("<"))
		if len(bytes.TrimSpace(token)) == 0 {
			return nil
		}
		q = url.Values{"verb": {"ListRecords"}, "resumptionToken": {string(token)}}
	}
}

// dateRevised is the day on which an article was last changed, or the first day that it tells.
func dateRevised(raw []byte) string {
	if _, rest, ok := bytes.Cut(raw, []byte("<DateRevised>")); ok {
		raw = rest
	}
	return textAfter(raw, "<Year>") + "-" + textAfter(raw, "<Month>") + "-" + textAfter(raw, "<Day>")
}

// spans finds records between two tags, and in each an id and a time.
func spans(body []byte, begin, end, id string, updated func(raw []byte) string) ([]record, error) {
	var all []record
	for {
		_, rest, ok := bytes.Cut(body, []byte(begin))
		if !ok {
			return all, nil
		}
		raw, after, ok := bytes.Cut(rest, []byte(end))
		if !ok {
			return nil, errors.New("a page is cut")
		}
		all = append(all, record{id: textAfter(raw, id), updated: updated(raw), raw: raw})
		body = after
	}
}

func textAfter(raw []byte, tag string) string {
	_, rest, _ := bytes.Cut(raw, []byte(tag))
	if !strings.HasSuffix(tag, ">") {
		_, rest, _ = bytes.Cut(rest, []byte(">"))
	}
	text, _, _ := bytes.Cut(rest, []byte("<"))
	return string(text)
}

// dom finds them as a program does that makes a tree of the whole page and asks it.
func dom(body []byte, each []string, id, updated string) ([]record, error) {
	var tree element
	if err := xml.Unmarshal(body, &tree); err != nil {
		return nil, err
	}
	var all []record
	tree.walk(func(n *element) bool {
		if !slices.Contains(each, n.XMLName.Local) {
			return true
		}
		all = append(all, record{raw: n.Inside, id: n.first(id), updated: n.first(updated)})
		return false
	})
	return all, nil
}

// element is a part of such a tree.
type element struct {
	XMLName  xml.Name
	Text     string    `xml:",chardata"`
	Inside   []byte    `xml:",innerxml"`
	Children []element `xml:",any"`
}

// walk goes to an element and everything inside, unless it is told to stay out.
func (e *element) walk(visit func(*element) bool) {
	if !visit(e) {
		return
	}
	for i := range e.Children {
		e.Children[i].walk(visit)
	}
}

// first is the text of the first element of a name inside.
func (e *element) first(name string) (text string) {
	found := false
	e.walk(func(n *element) bool {
		if !found && n.XMLName.Local == name {
			text, found = n.text(), true
		}
		return !found
	})
	return text
}

// text is all the text inside.
func (e *element) text() string {
	text := e.Text
	for i := range e.Children {
		text += e.Children[i].text()
	}
	return text
}
