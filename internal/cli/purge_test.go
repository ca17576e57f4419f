package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/config"
	"patra/internal/store/storetest"
)

// What is gone cannot be sent again, and whoever asks for it is told so, and what to do; a sink that is gone is forgotten.
func TestOldEventsAreDeletedAndSinksForgotten(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		t.Chdir(t.TempDir())
		w := storetest.NewWorld(t, e, 1)
		w.Page(w.Take(), 1, true, w.Record("a", storetest.Origin, "one"), w.Record("b", storetest.Origin, "two"))
		settings := func(sinks string) config.Config {
			t.Helper()
			if err := os.WriteFile("patra.yaml", []byte("store: {url: \""+w.URL+"\"}\nsinks: ["+sinks+"]\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			cfg, err := config.Load("patra.yaml", true, nil)
			if err != nil {
				t.Fatal(err)
			}
			return cfg
		}
		says := func(want int, text string, args ...string) {
			t.Helper()
			var out bytes.Buffer
			if code := run(t.Context(), args, os.Environ(), &out, &out); code != want || !strings.Contains(strings.Join(strings.Fields(out.String()), " "), text) {
				t.Errorf("%v: exit code %d\n%s", args, code, &out)
			}
		}
		purge := func(cfg config.Config, some bool, why string) {
			t.Helper()
			n, err := purgeEvents(t.Context(), w.Store, cfg, w.Clock.Instant().Add(8*24*time.Hour))
			if err != nil || (n > 0) != some {
				t.Errorf("%s: %d events, %v", why, n, err)
			}
		}
		const feed, old = `{name: feed, type: FILE, url: "file:feed.jsonl"}`, `{name: old, type: FILE, url: "file:old.jsonl"}`
		cfg := settings(feed + "," + old)
		purge(cfg, false, "no relay was at the sinks yet")
		says(0, "feed: 3 events sent.", "relay", "run", "feed", "--once")
		purge(cfg, false, "one of them has nothing yet")
		says(0, "old: 3 events sent.", "relay", "run", "old", "--once")
		says(0, "old goes back", "relay", "rewind", "old", "--from", "START")
		cfg = settings(feed)
		purge(cfg, false, "one that is gone from the settings still counts")
		says(2, "feed is in patra.yaml; take it out of sinks there first", "relay", "forget", "feed")
		says(2, `there is no sink "nobody"`, "relay", "forget", "nobody")
		says(0, "Next: patra relay forget old, if it is gone", "relay", "status")
		says(0, "old is forgotten.", "relay", "forget", "old", "--reason", "replaced")
		says(0, "FORGET", "audit", "list", "--target", "old")
		forever := cfg
		forever.Events.Keep = 0
		purge(forever, false, "they are kept for ever")
		purge(cfg, true, "all have it")
		says(2, "are not there any more: every sink had them, and they were older than events.keep. Next: patra relay rewind feed --from", "relay", "rewind", "feed", "--from", "START")
		says(2, "are not there any more", "relay", "rewind", "feed", "--from", "2026-01-01")
		says(0, "feed goes back from event 3 to event 3.", "relay", "rewind", "feed", "--from", (w.Clock.Instant() + patra.Second).String())
		says(0, "No events.", "events", "list")
		storetest.CheckInvariants(t, storetest.Inspect(t, w.URL))
	})
}
