package patra_test

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"patra"
)

// inputs draws what a window is decided from. All moments are near each other, so that every comparison goes both ways.
func inputs() *rapid.Generator[patra.WindowInputs] {
	return rapid.Custom(func(t *rapid.T) patra.WindowInputs {
		base := anyInstant().Draw(t, "base")
		moment := rapid.Map(rapid.Int64Range(-40*int64(patra.Day), 40*int64(patra.Day)), func(d int64) patra.Instant { return base + patra.Instant(d) })
		return patra.WindowInputs{
			Now:       moment.Draw(t, "now"),
			SafetyLag: time.Duration(rapid.Int64Range(0, int64(3*patra.Day)).Draw(t, "lag in us")) * time.Microsecond,
			Cursor:    rapid.Ptr(moment, true).Draw(t, "cursor"),
			Lookback:  anyPeriod().Draw(t, "look-back"),
			UserFrom:  rapid.Ptr(moment, true).Draw(t, "user from"),
			UserTo:    rapid.Ptr(moment, true).Draw(t, "user to"),
			Origin:    rapid.Ptr(moment, true).Draw(t, "origin"),
			Earliest:  rapid.Ptr(moment, true).Draw(t, "earliest"),
			Size:      anyPeriod().Draw(t, "size"),
			Mode:      rapid.SampledFrom([]patra.WindowMode{patra.ModeCalendar, patra.ModeSliding}).Draw(t, "mode"),
			Align:     anyUnit().Draw(t, "align"),
		}
	})
}

// grainOf is what both ends are floored to.
func grainOf(in patra.WindowInputs) patra.Unit {
	if in.Mode == patra.ModeCalendar {
		return in.Align
	}
	return patra.UnitMillisecond
}

func TestAHarvestNeverEndsAfterTheSafeMomentOrTheUsersEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := inputs().Draw(t, "inputs")
		d := patra.PlanWindow(in)
		if lag := patra.Instant(in.SafetyLag.Microseconds()); d.NowSafe != in.Now-lag || d.Window.To > in.Now-lag {
			t.Fatalf("%s ends after %s, which is now minus the lag", d.Window, in.Now-lag)
		}
		if in.UserTo != nil && d.Window.To > *in.UserTo {
			t.Fatalf("%s ends after the user's %s", d.Window, in.UserTo)
		}
	})
}

func TestBothEndsOfAHarvestLieOnItsGrain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := inputs().Draw(t, "inputs")
		w, grain := patra.PlanWindow(in).Window, grainOf(in)
		if grain.Floor(w.From) != w.From || grain.Floor(w.To) != w.To {
			t.Fatalf("%s does not lie on %s", w, grain)
		}
	})
}

func TestAHarvestNeverBeginsBeforeAnyOfItsLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := inputs().Draw(t, "inputs")
		w, grain := patra.PlanWindow(in).Window, grainOf(in)
		limits := map[string]*patra.Instant{"the source's first day": in.Earliest, "the user's start": in.UserFrom}
		if in.Cursor != nil {
			limits["the look-back"] = ptr(in.Lookback.Before(*in.Cursor))
		}
		for what, limit := range limits {
			if limit != nil && w.From < grain.Floor(*limit) {
				t.Fatalf("%s begins before %s, %s", w, what, limit)
			}
		}
	})
}

func TestAWatermarkIsNeverSkippedUnlessTheUserOrTheSourceSaysSo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := inputs().Draw(t, "inputs")
		if in.Cursor == nil || (in.UserFrom != nil && *in.UserFrom > *in.Cursor) || (in.Earliest != nil && *in.Earliest > *in.Cursor) {
			return
		}
		if w := patra.PlanWindow(in).Window; w.From > *in.Cursor {
			t.Fatalf("%s begins after the watermark %s", w, in.Cursor)
		}
	})
}

func TestAnEmptyHarvestHasAReasonAndNoOtherHas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := inputs().Draw(t, "inputs")
		d := patra.PlanWindow(in)
		if d.Window.IsEmpty() != (d.Reason != "") {
			t.Fatalf("%d~%d has the reason %q", d.Window.From, d.Window.To, d.Reason)
		}
		inverted := in.UserFrom != nil && in.UserTo != nil && *in.UserFrom >= *in.UserTo
		if inverted && d.Window.IsEmpty() != (d.Reason == patra.ReasonInverted) {
			t.Fatalf("an inverted user window has the reason %q", d.Reason)
		}
	})
}

func TestOnlyAFirstRunSaysWhoChoseTheOrigin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := inputs().Draw(t, "inputs")
		want := patra.OriginOneWindow
		switch {
		case in.Cursor != nil:
			want = ""
		case in.UserFrom != nil:
			want = patra.OriginUser
		case in.Origin != nil:
			want = patra.OriginConfig
		}
		if got := patra.PlanWindow(in).OriginCode; got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestTheSameInputsGiveTheSameHarvestAndAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := inputs().Draw(t, "inputs")
		first, second := patra.PlanWindow(in), patra.PlanWindow(in)
		if !reflect.DeepEqual(first, second) || !reflect.DeepEqual(first.WindowInputs, in) {
			t.Fatalf("got %+v and %+v", first, second)
		}
	})
}

func TestHarvestWindowByExample(t *testing.T) {
	at := func(text string) *patra.Instant {
		i, err := patra.ParseInstant(text)
		if err != nil {
			t.Fatal(err)
		}
		return &i
	}
	// Now is 00:20 on 10 March and the lag half an hour: the safe moment is still on the 9th.
	daily := patra.WindowInputs{Now: *at("2026-03-10T00:20:00Z"), SafetyLag: 30 * time.Minute, Lookback: patra.Period{Days: 1},
		Earliest: at("2002-07-25"), Size: patra.Period{Days: 1}, Mode: patra.ModeCalendar, Align: patra.UnitDay}
	tests := []struct {
		name   string
		change func(*patra.WindowInputs)
		want   string
		origin string
		reason string
	}{
		{"first run: one window up to the safe moment", func(*patra.WindowInputs) {},
			"2026-03-08~2026-03-09", patra.OriginOneWindow, ""},
		{"first run: the configured origin", func(in *patra.WindowInputs) { in.Origin = at("2026-03-01") },
			"2026-03-01~2026-03-09", patra.OriginConfig, ""},
		{"first run: the user's start wins over the origin", func(in *patra.WindowInputs) { in.Origin, in.UserFrom = at("2026-03-01"), at("2026-02-01") },
			"2026-02-01~2026-03-09", patra.OriginUser, ""},
		{"first run: the user's end", func(in *patra.WindowInputs) { in.UserFrom, in.UserTo = at("2026-02-01"), at("2026-02-05") },
			"2026-02-01~2026-02-05", patra.OriginUser, ""},
		{"first run: nothing before the source began", func(in *patra.WindowInputs) { in.UserFrom, in.UserTo = at("1990-01-01"), at("2002-07-27") },
			"2002-07-25~2002-07-27", patra.OriginUser, ""},
		{"cursor: from the watermark less the look-back", func(in *patra.WindowInputs) { in.Cursor = at("2026-03-05") },
			"2026-03-04~2026-03-09", "", ""},
		{"cursor: a later user start skips the look-back", func(in *patra.WindowInputs) { in.Cursor, in.UserFrom = at("2026-03-05"), at("2026-03-07") },
			"2026-03-07~2026-03-09", "", ""},
		{"cursor: an earlier user start does not look back further", func(in *patra.WindowInputs) { in.Cursor, in.UserFrom = at("2026-03-05"), at("2020-01-01") },
			"2026-03-04~2026-03-09", "", ""},
		{"cursor: the origin counts no longer", func(in *patra.WindowInputs) { in.Cursor, in.Origin = at("2026-03-05"), at("2026-03-01") },
			"2026-03-04~2026-03-09", "", ""},
		{"cursor: up to date but for the look-back", func(in *patra.WindowInputs) { in.Cursor = at("2026-03-09") },
			"2026-03-08~2026-03-09", "", ""},
		{"cursor: up to date without a look-back", func(in *patra.WindowInputs) { in.Cursor, in.Lookback = at("2026-03-09"), patra.Period{} },
			"2026-03-09~2026-03-09", "", patra.ReasonUpToDate},
		{"cursor: no look-back reaches before the beginning", func(in *patra.WindowInputs) { in.Cursor, in.Began = at("2026-03-05"), at("2026-03-05") },
			"2026-03-05~2026-03-09", "", ""},
		{"force: from where the user says", func(in *patra.WindowInputs) {
			in.Cursor, in.Began, in.UserFrom, in.Force = at("2026-03-05"), at("2026-03-01"), at("2026-02-01"), true
		}, "2026-02-01~2026-03-09", "", ""},
		{"user: a window within a day is empty", func(in *patra.WindowInputs) {
			in.UserFrom, in.UserTo = at("2026-02-05T10:00:00Z"), at("2026-02-05T12:00:00Z")
		},
			"2026-02-05~2026-02-05", patra.OriginUser, patra.ReasonTooShort},
		{"calendar: both ends of the user are floored", func(in *patra.WindowInputs) {
			in.UserFrom, in.UserTo = at("2026-02-01T18:00:00Z"), at("2026-02-05T18:00:00Z")
		}, "2026-02-01~2026-02-05", patra.OriginUser, ""},
		{"sliding: ends lie where they are asked for", func(in *patra.WindowInputs) { in.Mode, in.Align = patra.ModeSliding, "" },
			"2026-03-08T23:50:00.000Z~2026-03-09T23:50:00.000Z", patra.OriginOneWindow, ""},
		{"sliding: floored to a millisecond", func(in *patra.WindowInputs) { in.Mode, in.Now = patra.ModeSliding, in.Now+1999 },
			"2026-03-08T23:50:00.001Z~2026-03-09T23:50:00.001Z", patra.OriginOneWindow, ""},
		{"user: an inverted window is empty", func(in *patra.WindowInputs) { in.UserFrom, in.UserTo = at("2026-02-05"), at("2026-02-01") },
			"2026-02-05~2026-02-01", patra.OriginUser, patra.ReasonInverted},
		{"user: a window from a moment to itself is empty", func(in *patra.WindowInputs) { in.UserFrom, in.UserTo = at("2026-02-05"), at("2026-02-05") },
			"2026-02-05~2026-02-05", patra.OriginUser, patra.ReasonInverted},
		{"user: a future window is empty", func(in *patra.WindowInputs) { in.UserFrom, in.UserTo = at("2027-01-01"), at("2027-02-01") },
			"2027-01-01~2026-03-09", patra.OriginUser, patra.ReasonNotYet},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := daily
			tt.change(&in)
			d := patra.PlanWindow(in)
			if d.Window.String() != tt.want || d.OriginCode != tt.origin || d.Reason != tt.reason {
				t.Errorf("got %s, origin %q, reason %q; want %s, %q, %q", d.Window, d.OriginCode, d.Reason, tt.want, tt.origin, tt.reason)
			}
		})
	}
}

func TestWhatWasAskedForIsMoreThanWhatIsReadGoingForward(t *testing.T) {
	day := func(n int) *patra.Instant { i := patra.Date(2026, time.March, n); return &i }
	in := patra.WindowInputs{Now: *day(20), Cursor: day(10), Began: day(5), Lookback: patra.Period{Days: 1}, Size: patra.Period{Days: 1}, Mode: patra.ModeCalendar, Align: patra.UnitDay}
	for _, c := range []struct {
		from, to *patra.Instant
		want     string
	}{
		{nil, nil, "2026-03-09~2026-03-20"},
		{day(1), nil, "2026-03-01~2026-03-20"},
		{day(1), day(4), "2026-03-01~2026-03-04"},
		{day(6), day(30), "2026-03-06~2026-03-20"}, // the future was not there to be read
	} {
		in.UserFrom, in.UserTo = c.from, c.to
		if got := patra.PlanWindow(in).Asked(); got.String() != c.want {
			t.Errorf("asked for %s, want %s", got, c.want)
		}
	}
}

// Every operation, against the table of windows written out by hand.
func TestTheWindowsOfHistoryAndUpdatesByExample(t *testing.T) {
	at := func(text string) *patra.Instant {
		i, err := patra.ParseInstant(text)
		if err != nil {
			t.Fatal(err)
		}
		return &i
	}
	base := patra.WindowInputs{Now: *at("2026-03-10T00:20:00Z"), SafetyLag: 30 * time.Minute, Lookback: patra.Period{Days: 2}, Earliest: at("2002-07-25"),
		Size: patra.Period{Days: 1}, Mode: patra.ModeCalendar, Align: patra.UnitDay, Origin: at("2026-03-01")}
	for _, c := range []struct {
		name   string
		op     patra.Operation
		change func(*patra.WindowInputs)
		want   string
		reason string
	}{
		{"history ends where the harvest began", patra.Backfill, func(in *patra.WindowInputs) {
			in.UserFrom, in.Forward, in.ForwardAt = at("2026-01-01"), at("2026-03-05"), at("2026-03-01")
		}, "2026-01-01~2026-03-01", ""},
		{"history never passes the harvest", patra.Backfill, func(in *patra.WindowInputs) {
			in.UserFrom, in.UserTo, in.Forward, in.ForwardAt = at("2026-01-01"), at("2026-03-09"), at("2026-03-05"), at("2026-03-01")
		}, "2026-01-01~2026-03-05", ""},
		{"history without a harvest ends at the safe moment", patra.Backfill, func(in *patra.WindowInputs) { in.UserFrom = at("2026-01-01") }, "2026-01-01~2026-03-09", ""},
		{"history that nobody gave a beginning is one window", patra.Backfill, func(in *patra.WindowInputs) { in.Forward, in.ForwardAt = at("2026-03-05"), at("2026-03-01") }, "2026-02-28~2026-03-01", ""},
		{"a campaign goes on from its watermark, without a look-back", patra.Backfill, func(in *patra.WindowInputs) {
			in.Cursor, in.Began, in.ForwardAt = at("2026-02-10"), at("2026-01-01"), at("2026-03-01")
		}, "2026-02-10~2026-03-01", ""},
		{"a campaign and a later beginning", patra.Backfill, func(in *patra.WindowInputs) {
			in.Cursor, in.Began, in.UserFrom, in.ForwardAt = at("2026-02-10"), at("2026-01-01"), at("2026-02-20"), at("2026-03-01")
		}, "2026-02-20~2026-03-01", ""},
		{"a campaign and an earlier beginning that it has passed", patra.Backfill, func(in *patra.WindowInputs) {
			in.Cursor, in.Began, in.UserFrom, in.ForwardAt = at("2026-02-10"), at("2026-01-01"), at("2026-01-15"), at("2026-03-01")
		}, "2026-02-10~2026-03-01", ""},
		{"a campaign that is to reach further back", patra.Backfill, func(in *patra.WindowInputs) {
			in.Cursor, in.Began, in.UserFrom, in.ForwardAt = at("2026-02-10"), at("2026-01-01"), at("2025-01-01"), at("2026-03-01")
		}, "2025-01-01~2026-03-01", ""},
		{"a campaign that is done", patra.Backfill, func(in *patra.WindowInputs) {
			in.Cursor, in.Began, in.ForwardAt = at("2026-03-01"), at("2026-01-01"), at("2026-03-01")
		}, "2026-03-01~2026-03-01", patra.ReasonUpToDate},
		{"history that is no history", patra.Backfill, func(in *patra.WindowInputs) {
			in.UserFrom, in.Forward, in.ForwardAt = at("2026-03-07"), at("2026-03-05"), at("2026-03-01")
		},
			"2026-03-07~2026-03-01", patra.ReasonNoHistory},
		{"nothing before the source began", patra.Backfill, func(in *patra.WindowInputs) { in.UserFrom, in.UserTo = at("1990-01-01"), at("2002-07-27") }, "2002-07-25~2002-07-27", ""},
		{"an update by time begins one window back", patra.Update, func(*patra.WindowInputs) {}, "2026-03-08~2026-03-09", ""},
		{"an update by time goes on", patra.Update, func(in *patra.WindowInputs) { in.Cursor, in.Began = at("2026-03-02"), at("2026-03-01") }, "2026-03-02~2026-03-09", ""},
		{"an update by time and a later beginning", patra.Update, func(in *patra.WindowInputs) {
			in.Cursor, in.Began, in.UserFrom = at("2026-03-02"), at("2026-03-01"), at("2026-03-05")
		}, "2026-03-05~2026-03-09", ""},
		{"an update by id has one window", patra.Update, func(in *patra.WindowInputs) { in.ByID, in.Cursor = true, at("2026-01-02") }, "2026-03-08~2026-03-09", ""},
		{"an update by id in the user's window", patra.Update, func(in *patra.WindowInputs) {
			in.ByID, in.UserFrom, in.UserTo = true, at("2026-03-02"), at("2026-04-01")
		}, "2026-03-02~2026-03-09", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := base
			in.Operation = c.op
			c.change(&in)
			if d := patra.PlanWindow(in); d.Window.String() != c.want || d.Reason != c.reason {
				t.Errorf("got %s %q, want %s %q", d.Window, d.Reason, c.want, c.reason)
			}
		})
	}
}

func TestHistoryNeverPassesTheHarvestWhateverIsAsked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := inputs().Draw(t, "inputs")
		in.Operation = patra.Backfill
		began, length := in.Now-40*patra.Day+patra.Instant(rapid.IntRange(0, 30).Draw(t, "began"))*patra.Day, patra.Instant(rapid.IntRange(0, 9).Draw(t, "length"))*patra.Day
		reached := began + length
		in.ForwardAt, in.Forward = &began, &reached
		d := patra.PlanWindow(in)
		if d.Window.To > reached || d.Asked().To > max(reached, d.Window.To) {
			t.Fatalf("%s passes %s", d.Window, reached)
		}
		if in.UserTo == nil && d.Window.To > began {
			t.Fatalf("%s reads what the harvest reads", d.Window)
		}
	})
}
