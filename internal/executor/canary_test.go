package executor_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"patra"
	"patra/internal/observe"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// The canaries: no secret may be longer in the world than on the wire. They hold what has to be escaped somewhere.
const (
	canarySecret = `ca/nary+Secret="1"&<x>\y`
	canaryUser   = `canary-User/2&"`
	canaryToken  = `canary-Token+/3==`
)

// disguises are the ways in which a provider may send a text back. They are written down again here, and not taken from
// the program, which could forget one in both places.
func disguises(secret string) map[string]string {
	quoted, _ := json.Marshal(secret)
	inJSON := string(quoted[1 : len(quoted)-1])
	return map[string]string{
		"as it is":           secret,
		"in a query":         url.QueryEscape(secret),
		"in a path":          url.PathEscape(secret),
		"in small letters":   strings.NewReplacer("%2F", "%2f", "%2B", "%2b", "%3D", "%3d", "%3C", "%3c", "%3E", "%3e", "%5C", "%5c").Replace(url.QueryEscape(secret)),
		"in JSON":            inJSON,
		"in JSON from PHP":   strings.ReplaceAll(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(inJSON), "/", `\/`),
		"in XML":             strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;").Replace(secret),
		"in XML, plainly":    strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(secret),
		"in XML, by name":    strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(secret),
		"in JSON, all of it": strings.ReplaceAll(inJSON, "/", `\/`),
		"in base64":          base64.StdEncoding.EncodeToString([]byte(secret)),
		"in base64 for web":  base64.RawURLEncoding.EncodeToString([]byte(secret)),
		"in hex":             hex.EncodeToString([]byte(secret)),
	}
}

// echo is a text with all disguises of some secrets, and some that hide in a longer text.
func echo(secrets []string) string {
	var b strings.Builder
	for _, s := range secrets {
		for _, text := range disguises(s) {
			b.WriteString(" [" + text + "]")
		}
		for _, before := range []string{"", "x", "xy"} {
			b.WriteString(" " + base64.StdEncoding.EncodeToString([]byte(before+s+"tail")))
		}
	}
	return b.String()
}

// parrot is a provider that says everything back: in records, links, messages, headers, and lines that are no HTTP.
type parrot struct {
	*httptest.Server
	secrets []string
	mu      sync.Mutex
	asked   int
	tokens  int
}

func (p *parrot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/token" {
		p.giveToken(w)
		return
	}
	p.mu.Lock()
	p.asked++
	n := p.asked
	p.mu.Unlock()
	s, said := read(r), echo(p.secrets)
	w.Header().Set("Content-Type", "text/"+p.secrets[0])
	w.Header().Set("X-Api-Pool", said)
	w.Header().Set("Location", p.URL+"/?"+url.Values{"k": {p.secrets[0]}}.Encode())
	switch n {
	case 1, 9:
		w.Header().Set("Retry-After", p.secrets[0])
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, said)
		return
	case 2, 10:
		c, _, _ := w.(http.Hijacker).Hijack()
		fmt.Fprintf(c, "HTTP/1.1 %s\r\n\r\n", p.secrets[0])
		c.Close()
		return
	case 3, 11:
		fmt.Fprint(w, said) // not JSON
		return
	case 4:
		w.Header().Set("Content-Encoding", p.secrets[0])
		fmt.Fprint(w, "{}")
		return
	}
	switch day := s.params.Get("from"); day {
	case "2026-05-02":
		b, _ := json.Marshal(map[string]any{"problem": said, "items": []any{}})
		w.Write(b)
	case "2026-05-03":
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, said)
	case "2026-05-04":
		w.WriteHeader(http.StatusFound)
		fmt.Fprint(w, said)
	default:
		p.page(w, s, said)
	}
}

// page answers with works that say everything back, one of them without an id, and a link with our key in it.
func (p *parrot) page(w http.ResponseWriter, s seen, said string) {
	page := works(s)
	for _, item := range page["items"].([]any) {
		item.(map[string]any)["said"] = said
	}
	page["items"] = append(page["items"].([]any), map[string]any{"said": said, "updated": "2026-05-01T00:00:00Z"})
	page["total"] = 6
	if s.params.Get("offset") != "2" {
		q := s.URL.Query()
		q.Set("offset", "2")
		q.Set("echo", p.secrets[0])
		page["next"] = p.URL + "/works?" + q.Encode()
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(page)
	w.Write(b.Bytes())
}

func (p *parrot) giveToken(w http.ResponseWriter) {
	p.mu.Lock()
	p.tokens++
	n := p.tokens
	p.mu.Unlock()
	if n == 1 {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, echo(p.secrets))
		return
	}
	json.NewEncoder(w).Encode(map[string]any{"access_token": canaryToken, "expires_in": 3600, "note": echo(p.secrets)})
}

// locked-up log is written to by many.
type shared struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *shared) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

// A provider sends back what it was sent, in every way it can. Afterwards no secret is in any column of any table, in the
// files of the store, in a record, in an answer that is kept, in the log, in an event or in a number.
func TestNoSecretIsKept(t *testing.T) {
	for name, c := range map[string]struct {
		auth    string
		request string
		secrets vault
		all     []string
	}{
		"header": {`{type: API_KEY, in: HEADER, name: x-api-key, secret: s}`, byGet, vault{"s": canarySecret}, []string{canarySecret}},
		"query":  {`{type: API_KEY, in: QUERY, name: api_key, secret: s}`, byGet, vault{"s": canarySecret}, []string{canarySecret}},
		"body":   {`{type: API_KEY, in: BODY, name: api_key, secret: s}`, byJSON, vault{"s": canarySecret}, []string{canarySecret}},
		"bearer": {`{type: BEARER, secret: s}`, byGet, vault{"s": canarySecret}, []string{canarySecret}},
		"basic":  {`{type: BASIC, userSecret: u, secret: s}`, byGet, vault{"s": canarySecret, "u": canaryUser}, []string{canarySecret, canaryUser, canaryUser + ":" + canarySecret}},
		"oauth":  {`{type: OAUTH2, tokenUrl: /token, clientId: u, secret: s}`, byGet, vault{"s": canarySecret, "u": canaryUser}, []string{canaryToken, canarySecret, canaryUser}},
		"signed": {`{type: CUSTOM, signer: HMAC_SHA256, userSecret: u, secret: s, options: {keyHeader: X-Key}}`, byForm, vault{"s": canarySecret, "u": canaryUser}, []string{canarySecret, canaryUser}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &parrot{secrets: c.all}
			p.Server = httptest.NewServer(p)
			t.Cleanup(p.Close)
			log := &shared{}
			dir := t.TempDir()
			text := strings.NewReplacer("maxAttempts: 3", "maxAttempts: 20").Replace(lockedSource(c.auth, c.request, linkByTwo))
			kept, numbers := keeper(t), observe.NewMetrics("test")
			st, dbURL := caller{text: text, secrets: c.secrets, log: log, dir: dir, kept: kept, numbers: numbers}.harvest(t, p.URL)
			places := dump(t, st, dbURL)
			numbers.WatchStore(st)
			scraped := httptest.NewRecorder()
			numbers.Handler().ServeHTTP(scraped, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
			if places["the numbers"] = scraped.Body.String(); !strings.Contains(places["the numbers"], `patra_ingest_errors_total{`) {
				t.Errorf("no errors are counted; this proves nothing: %s", places["the numbers"])
			}
			bodies := 0
			err := st.Bodies(t.Context(), "", 0, func(b patra.StoredBody, _ patra.Instant) error {
				body, err := kept.Get(t.Context(), b)
				places["the answer "+b.Body] = string(body)
				bodies++
				return err
			})
			if err != nil || bodies < 5 || !strings.Contains(fmt.Sprint(places), "REDACTED") {
				t.Errorf("%d answers are kept, %v", bodies, err)
			}
			places["the log and the events"] = log.b.String()
			for _, file := range []string{"patra.db", "patra.db-wal"} {
				if b, err := os.ReadFile(filepath.Join(dir, file)); err == nil {
					places[file] = string(b)
				}
			}
			for where, text := range places {
				for _, secret := range append(slices.Clone(c.all), canarySecret) {
					for how, form := range disguises(secret) {
						if strings.Contains(text, form) {
							t.Errorf("%s is kept %s in %s: %.300s", secret, how, where, around(text, form))
						}
					}
				}
				if strings.Contains(text, "canary") || strings.Contains(text, base64.RawStdEncoding.EncodeToString([]byte("nary+Secret"))[1:10]) {
					t.Errorf("a part of a secret is kept in %s: %.300s", where, around(text, "canary"))
				}
			}
			// The parrot was heard: its words are there, without the secrets.
			for _, where := range []string{"ing_quarantine", "ing_record", "ing_task", "ing_task_run_batch"} {
				if !strings.Contains(places[where], "REDACTED") {
					t.Errorf("nothing was taken out of %s; this proves nothing", where)
				}
			}
			tasks, err := st.Tasks(t.Context(), store.Filter{Status: patra.Failed})
			if err != nil || len(tasks) != 3 {
				t.Errorf("%d tasks failed, %v", len(tasks), err)
			}
		})
	}
}

func around(text, form string) string {
	at := strings.Index(text, form)
	return text[max(at-100, 0):min(at+100, len(text))]
}

// dump is every column of every table, and every record as it is given out.
func dump(t *testing.T, st *store.Store, dbURL string) map[string]string {
	t.Helper()
	db := storetest.Inspect(t, dbURL)
	places := map[string]string{}
	tables, err := db.Query(`SELECT name FROM sqlite_master WHERE type = 'table'`)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for tables.Next() {
		var name string
		if err := tables.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	tables.Close()
	for _, name := range names {
		rows, err := db.Query(`SELECT * FROM "` + name + `"`)
		if err != nil {
			t.Fatal(err)
		}
		columns, _ := rows.Columns()
		var text strings.Builder
		for rows.Next() {
			values, into := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			if err := rows.Scan(into...); err != nil {
				t.Fatal(err)
			}
			for _, v := range values {
				if b, ok := v.([]byte); ok {
					v = string(b)
				}
				fmt.Fprintln(&text, v)
			}
		}
		rows.Close()
		places[name] = text.String()
	}
	err = st.Records(t.Context(), "locked", func(r patra.Record) error {
		places["ing_record"] += string(r.Raw) + string(r.Fields) + r.ProviderID
		return nil
	})
	if err != nil || len(places) < 20 || places["ing_record"] == "" {
		t.Fatalf("only %d tables, %v", len(places), err)
	}
	return places
}
