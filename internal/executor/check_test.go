package executor_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"patra"
	"patra/internal/executor"
	"patra/internal/gate"
	"patra/internal/source"
	"patra/internal/store/storetest"
)

// Whoever looks whether a provider is there asks once, through the gate, and it is written down as what it is.
func TestACheckIsOneRequestThatCounts(t *testing.T) {
	e := storetest.Engines()[0]
	url := e.URL(t)
	st := e.Connect(t, url)
	if _, err := st.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := prober(t, st, gate.NewShared(st), newWorks().Handler())
	got, err := p.Check(t.Context(), specOf(t, crossrefText(t)), month, "http://provider")
	if err != nil || got.Status != http.StatusOK || got.Took <= 0 {
		t.Errorf("%+v, %v", got, err)
	}
	var rows, keys int
	db := storetest.Inspect(t, url)
	if err := db.QueryRow(`SELECT COUNT(*) FROM ing_request WHERE kind_code = 'CHECK' AND gate_key = 'crossref' AND http_status = 200 AND outcome_code = 'OK' AND run_id IS NULL`).Scan(&rows); err != nil || rows != 1 {
		t.Errorf("%d rows, %v", rows, err)
	}
	if err := db.QueryRow(`SELECT COUNT(*) FROM ing_rate_gate WHERE gate_key = 'crossref'`).Scan(&keys); err != nil || keys != 1 {
		t.Errorf("the gate was asked for %d keys, %v", keys, err)
	}
}

func TestACheckTellsWhatCame(t *testing.T) {
	for _, c := range []struct {
		name   string
		date   time.Duration // of the answer, from now; 0: it has none
		status int
		code   string
		ahead  time.Duration
	}{
		{"well", 0, 200, "", 0}, {"refused", 0, 403, patra.CodeAuth, 0}, {"broken", 0, 502, patra.CodeHTTP, 0},
		{"from the past", -time.Hour, 200, "", time.Hour}, {"from the future", time.Hour, 200, "", -time.Hour}, {"in time", time.Millisecond, 200, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows := &requests{}
			p := prober(t, rows, gate.NewLocal(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Date"] = nil
				if c.date != 0 {
					w.Header().Set("Date", time.Now().Add(c.date).UTC().Format(http.TimeFormat))
				}
				if c.status != http.StatusOK {
					w.WriteHeader(c.status)
					return
				}
				io.WriteString(w, `{"message":{"total-results":5,"items":[]}}`)
			}))
			got, err := p.Check(t.Context(), specOf(t, crossrefText(t)), month, "http://provider")
			code := ""
			if err != nil {
				code = patra.AsFault(err).Code
			}
			if got.Status != c.status || code != c.code || len(rows.opened) != 1 || rows.opened[0].Kind != patra.RequestCheck {
				t.Errorf("%+v, %v after %d requests", got, err, len(rows.opened))
			}
			if (got.Ahead == nil) != (c.date == 0) || got.Ahead != nil && (*got.Ahead-c.ahead).Abs() > 10*time.Second {
				t.Errorf("ahead by %v, want %s", got.Ahead, c.ahead)
			}
		})
	}
}

// Nobody who answers is no status.
func TestACheckOfNobody(t *testing.T) {
	p := &executor.Prober{Store: &requests{}, Gate: gate.NewLocal(), Client: func(*source.Spec, string) *http.Client { return &http.Client{Transport: noWay{}} }}
	if got, err := p.Check(t.Context(), specOf(t, crossrefText(t)), month, "http://provider"); err == nil || got.Status != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

type noWay struct{}

func (noWay) RoundTrip(*http.Request) (*http.Response, error) { return nil, errNoWay }

var errNoWay = http.ErrServerClosed
