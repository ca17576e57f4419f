package executor_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"patra"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// damages are what is done to single works of a page.
var damages = strings.NewReplacer(
	"<id>1/21</id>", "<id>1/21</id><t>\vA</t>",
	"<id>1/22</id>", "<id>1/22</id><t>A&nbsp;B &amp; C & D</t>",
	"<id>1/23</id>", "<id>1/23</id><t>\xe9&#x1F;</t>",
	"<id>1/24</id>", "<id>1/24</id><t><b>x</t>",
	"<id>1/25</id>", "<id>1/25\v</id>",
)

// harvestInPieces reads two days, of which the first has a damaged page, from a provider that sends its answers in
// pieces of a size. It gives the hashes of what is stored, and what became of the damaged page.
func harvestInPieces(t *testing.T, size int) (e *early, hashes map[string]string, page patra.Batch) {
	t.Helper()
	var sent []byte
	x := &xmlWorks{}
	e = newEarly(t, strings.Replace(inXML, "PAGINATION", byCounting, 1), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		x.ServeHTTP(rec, r)
		body := rec.Body.Bytes()
		if damaged := damages.Replace(string(body)); damaged != string(body) {
			body = []byte(damaged)
			sent = body
		}
		w.WriteHeader(rec.Code)
		for part := range slices.Chunk(body, size) {
			_, _ = w.Write(part)
			_ = http.NewResponseController(w).Flush()
		}
	}))
	e.whole()
	r, kept := runner(t, e.store, e.plan), keeper(t)
	r.Evidence, r.Config.Workers = kept, 1
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	hashes = map[string]string{}
	rows, err := storetest.Inspect(t, e.url).QueryContext(t.Context(), `SELECT provider_id, content_sha256 FROM ing_record`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, hash string
		if err := rows.Scan(&id, &hash); err != nil {
			t.Fatal(err)
		}
		hashes[id] = hash
	}
	pages, err := e.store.Batches(t.Context(), store.Filter{Limit: 1000})
	if err != nil || rows.Err() != nil {
		t.Fatal(err, rows.Err())
	}
	for _, p := range pages {
		if len(p.Repairs) > 0 {
			page = p
		}
	}
	body, err := e.store.Body(t.Context(), page.BodySHA256)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := kept.Get(t.Context(), body); err != nil || !bytes.Equal(text, sent) {
		t.Errorf("the kept answer is %q, %v and not %q", text, err, sent)
	}
	return e, hashes, page
}

// One bad byte costs nothing, and a broken element one record: the rest of the page is stored, the page's row says what
// was repaired, and the answer is kept as it came. Where the answer was cut on its way makes no difference.
func TestADamagedPage(t *testing.T) {
	e, hashes, page := harvestInPieces(t, 1<<20)
	if len(hashes) != 198 || hashes["1/24"] != "" {
		t.Errorf("%d records", len(hashes))
	}
	if page.Status != patra.Succeeded || page.RecordCount != 20 || page.Counts.Insert != 18 || page.Counts.Quarantine != 2 ||
		page.Repairs.String() != "1 bare ampersand, 2 forbidden character, 1 forbidden reference, 1 html entity, 1 invalid byte" {
		t.Errorf("the page: %+v", page)
	}
	want := []string{`XML_BROKEN at  of "1/24": <item><id>1/24</id><t><b>x</t><at>2026-05-01</at></item>`, "BAD_TEXT at id of \"\": <item><id>1/25\v</id><at>2026-05-01</at></item>"}
	if got := e.aside(); !slices.Equal(got, want) {
		t.Errorf("in quarantine are %q", got)
	}
	for _, size := range []int{1, 7} {
		if _, again, _ := harvestInPieces(t, size); !maps.Equal(again, hashes) {
			t.Errorf("in pieces of %d the hashes are others", size)
		}
	}
	if raw := "<item><id>1/21</id><t>\vA</t><at>2026-05-01</at></item>"; hashes["1/21"] != patra.HashBytes([]byte(raw)) {
		t.Errorf("the hash of a record is not that of what was sent: %s", hashes["1/21"])
	}
	if err := e.store.Records(t.Context(), "by-offset", func(r patra.Record) error {
		if r.ProviderID == "1/23" && string(r.Raw) != `"<item><id>1/23</id><t>\ufffd&#x1F;</t><at>2026-05-01</at></item>"` {
			return fmt.Errorf("the raw record is %q", r.Raw)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}
