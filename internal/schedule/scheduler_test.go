package schedule_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/schedule"
)

// diary stands in for the store: it notes fires and tells the last.
type diary struct {
	t     *testing.T
	mu    sync.Mutex
	fires map[string][]patra.Instant
	late  time.Duration // of the latest fire
	log   bytes.Buffer
}

func newDiary(t *testing.T) *diary { return &diary{t: t, fires: map[string][]patra.Instant{}} }

func (d *diary) fire(_ context.Context, job string, at patra.Instant) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if slices.Contains(d.fires[job], at) {
		d.t.Errorf("%s is fired again at %s", job, at)
	}
	d.fires[job] = append(d.fires[job], at)
	d.late = max(d.late, time.Since(at.Time()))
	return nil
}

func (d *diary) fired(_ context.Context, name string) (*patra.Instant, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := len(d.fires[name]); n > 0 {
		return &d.fires[name][n-1], nil
	}
	return nil, nil
}

func (d *diary) scheduler(jobs ...schedule.Job) *schedule.Scheduler {
	log := slog.New(slog.NewTextHandler(&d.log, nil))
	return &schedule.Scheduler{Jobs: jobs, Fired: d.fired, Fire: d.fire, Log: log}
}

// run lets the scheduler run for a while of simulated time, which begins on a midnight.
func (d *diary) run(s *schedule.Scheduler, during time.Duration) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), during)
	defer cancel()
	if err := s.Run(ctx); err != nil {
		d.t.Error(err)
	}
}

func (d *diary) count(job string) int { return len(d.fires[job]) }

func TestAJobEveryMinuteOverADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDiary(t)
		start := patra.InstantOf(time.Now())
		d.run(d.scheduler(schedule.Job{Name: "often", Cron: cron(t, "* * * * *")}), 24*time.Hour+time.Second)
		if got := d.count("often"); got != 24*60 {
			t.Errorf("got %d fires", got)
		}
		for i, at := range d.fires["often"] {
			if want := start + patra.Instant(i+1)*patra.Minute; at != want {
				t.Fatalf("fire %d is for %s, not for %s", i, at, want)
			}
		}
		if d.late > 0 {
			t.Errorf("one was %s late", d.late)
		}
	})
}

func TestEachJobHasItsTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDiary(t)
		d.run(d.scheduler(
			schedule.Job{Name: "daily", Cron: cron(t, "15 2 * * *")},
			schedule.Job{Name: "hourly", Cron: cron(t, "@hourly")},
			schedule.Job{Name: "both", Cron: cron(t, "0,15 2 * * *")},
			schedule.Job{Name: "rarely", Cron: cron(t, "0 0 29 2 *")},
		), 7*24*time.Hour+time.Second)
		got := map[string]int{"daily": d.count("daily"), "hourly": d.count("hourly"), "both": d.count("both"), "rarely": d.count("rarely")}
		if want := map[string]int{"daily": 7, "hourly": 7 * 24, "both": 14, "rarely": 0}; !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestNobodyRanForAWhile(t *testing.T) {
	tests := []struct {
		name, cron string
		pause      time.Duration
		before     int // fires in the hour before
		at         int // fires at once, when it runs again
		after      int // fires in the hour after
	}{
		{"ten minutes of a job every minute", "* * * * *", 10 * time.Minute, 60, 1, 60},
		{"ten minutes without a fire", "30 * * * *", 10 * time.Minute, 1, 0, 1},
		{"three days of a job every hour", "30 * * * *", 72 * time.Hour, 1, 1, 1},
		{"three days of a job every day that never ran", "30 2 * * *", 72 * time.Hour, 0, 0, 0},
		{"three days of a job every day", "30 0 * * *", 72 * time.Hour, 1, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDiary(t)
				s := d.scheduler(schedule.Job{Name: "job", Cron: cron(t, tt.cron)})
				d.run(s, time.Hour+time.Second)
				before := d.count("job")
				<-time.After(tt.pause)
				d.run(s, time.Nanosecond)
				at := d.count("job") - before
				d.run(s, time.Hour)
				if after := d.count("job") - before - at; before != tt.before || at != tt.at || after != tt.after {
					t.Errorf("got %d before, %d at once and %d after", before, at, after)
				}
			})
		})
	}
}

func TestAFireThatFailsStopsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDiary(t)
		s := d.scheduler(schedule.Job{Name: "broken", Cron: cron(t, "* * * * *")}, schedule.Job{Name: "sound", Cron: cron(t, "* * * * *")})
		tried := map[patra.Instant]int{}
		s.Fire = func(ctx context.Context, job string, at patra.Instant) error {
			if job == "broken" {
				tried[at]++
				return errors.New("no such source")
			}
			return d.fire(ctx, job, at)
		}
		d.run(s, 10*time.Minute+time.Second)
		if d.count("sound") != 10 || len(tried) != 10 {
			t.Errorf("got %d and %d", d.count("sound"), len(tried))
		}
		for at, n := range tried {
			if n != 1 {
				t.Errorf("%s was tried %d times", at, n)
			}
		}
		if got := strings.Count(d.log.String(), `level=ERROR msg="schedule could not be fired" schedule=broken fire=`); got != 10 {
			t.Errorf("%d lines in the log:\n%s", got, d.log.String())
		}
	})
}

func TestAFireThatTakesLongDelaysOnlyItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDiary(t)
		s := d.scheduler(schedule.Job{Name: "slow", Cron: cron(t, "* * * * *")}, schedule.Job{Name: "quick", Cron: cron(t, "* * * * *")})
		running := false
		s.Fire = func(ctx context.Context, job string, at patra.Instant) error {
			if job == "slow" {
				if running {
					t.Error("it runs twice at the same time")
				}
				running = true
				<-time.After(10*time.Minute + 30*time.Second)
				running = false
			}
			return d.fire(ctx, job, at)
		}
		d.run(s, time.Hour-time.Second)
		if d.count("quick") != 59 || d.count("slow") != 6 {
			t.Errorf("got %d and %d", d.count("quick"), d.count("slow"))
		}
		start := d.fires["quick"][0]
		for i, at := range d.fires["slow"][1:3] {
			if want := start + patra.Instant(i+1)*10*patra.Minute + patra.Instant(i)*patra.Minute; at != want {
				t.Errorf("got %s, want %s: the newest one is made good at once", at, want)
			}
		}
	})
}

func TestAPastThatCannotBeReadIsAskedForAgain(t *testing.T) {
	for _, known := range []bool{true, false} {
		t.Run(fmt.Sprint("fired before: ", known), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDiary(t)
				if known {
					d.fires["job"] = []patra.Instant{patra.InstantOf(time.Now()).Add(-time.Hour)}
				}
				s := d.scheduler(schedule.Job{Name: "job", Cron: cron(t, "* * * * *")})
				begin := time.Now()
				s.Fired = func(ctx context.Context, name string) (*patra.Instant, error) {
					if time.Since(begin) < 5*time.Minute {
						return nil, errors.New("the store is away")
					}
					return d.fired(ctx, name)
				}
				d.run(s, 10*time.Minute+time.Second)
				fires := d.fires["job"]
				if known {
					fires = fires[1:]
				}
				if len(fires) != 6 || fires[0] != patra.InstantOf(begin.Add(5*time.Minute)) {
					t.Errorf("got %v", fires)
				}
				if got := strings.Count(d.log.String(), "level=WARN"); got != 10 {
					t.Errorf("%d lines in the log", got)
				}
			})
		})
	}
}

func TestRunWaitsForWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDiary(t)
		s := d.scheduler(schedule.Job{Name: "job", Cron: cron(t, "* * * * *")})
		s.Fire = func(ctx context.Context, job string, at patra.Instant) error {
			<-ctx.Done()
			<-time.After(time.Minute)
			return d.fire(ctx, job, at)
		}
		d.run(s, 5*time.Minute)
		if d.count("job") != 1 {
			t.Errorf("got %d fires", d.count("job"))
		}
	})
}

func TestRunWithoutJobsEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, start := newDiary(t), time.Now()
		d.run(d.scheduler(), time.Hour)
		if took := time.Since(start); took != time.Hour {
			t.Errorf("it took %s", took)
		}
	})
}

func TestAnEndedContextFiresNothing(t *testing.T) {
	d := newDiary(t)
	d.fires["job"] = []patra.Instant{0}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.scheduler(schedule.Job{Name: "job", Cron: cron(t, "* * * * *")}).Run(ctx); err != nil || d.count("job") != 1 {
		t.Errorf("got %d fires, %v", d.count("job"), err)
	}
}

func TestJobsThatMakeNoSenseAreRefused(t *testing.T) {
	job := schedule.Job{Name: "job", Cron: cron(t, "* * * * *")}
	tests := []struct {
		name string
		jobs []schedule.Job
		want string
	}{
		{"two of one name", []schedule.Job{job, job}, `two schedules are called "job"`},
		{"one without times", []schedule.Job{{Name: "job"}}, `the schedule "job" has no times`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := newDiary(t).scheduler(tt.jobs...).Run(t.Context()); err == nil || err.Error() != tt.want {
				t.Errorf("got %v", err)
			}
		})
	}
}
