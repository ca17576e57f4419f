package executor_test

import (
	"net/http"
	"strings"
	"testing"

	"patra/internal/sim"
	"patra/internal/store/storetest"
)

func TestTheLedgerKeepsWhatWasSentAndWhatWasSaidAboutTheAnswer(t *testing.T) {
	wrap := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Request-Cost", "50")
			w.Header().Set("Set-Cookie", "who=me")
			w.Header().Set("X-Long", strings.Repeat("x", 5000))
			next.ServeHTTP(w, r)
		})
	}
	h := newHarness(t, sim.Config{Seed: 1, PerDay: 10}, wrap, fast(t))
	if err := h.executor(1).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var request, response string
	if err := storetest.Inspect(t, h.url).QueryRow(`SELECT request_digest, response_digest FROM ing_task_run_batch WHERE status_code = 'SUCCEEDED' LIMIT 1`).Scan(&request, &response); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"method":"GET"`, `/works?`, `"User-Agent":"patra`} {
		if !strings.Contains(request, want) {
			t.Errorf("%s is not in the request %s", want, request)
		}
	}
	for _, want := range []string{`"status":200`, `"X-Request-Cost":"50"`, `"Content-Type":"application/json`} {
		if !strings.Contains(response, want) {
			t.Errorf("%s is not in the answer %s", want, response)
		}
	}
	if strings.Contains(response, "who=me") || len(response) > 2000 {
		t.Errorf("the answer is kept as %s", response)
	}
}
