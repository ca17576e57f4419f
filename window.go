package patra

import "time"

// Window is a half-open stretch of time [From, To): a record stamped exactly To belongs to the next one.
type Window struct {
	From Instant `json:"from"`
	To   Instant `json:"to"`
}

// IsEmpty reports whether no instant lies inside.
func (w Window) IsEmpty() bool { return w.From >= w.To }

// Contains reports whether i lies inside.
func (w Window) Contains(i Instant) bool { return w.From <= i && i < w.To }

// String writes `from~to`, with days where both ends are midnight.
func (w Window) String() string { return short(w.From) + "~" + short(w.To) }

func short(i Instant) string {
	if i%Day == 0 {
		return i.Time().Format("2006-01-02")
	}
	return i.String()
}

// Unit is a calendar grain: what a CALENDAR window is aligned to, or how finely a provider filters.
type Unit string

// The grains a source may name.
const (
	UnitMillisecond Unit = "MILLISECOND"
	UnitSecond      Unit = "SECOND"
	UnitMinute      Unit = "MINUTE"
	UnitHour        Unit = "HOUR"
	UnitDay         Unit = "DAY"
	UnitMonth       Unit = "MONTH"
)

// Units lists the grains, finest first.
var Units = []Unit{UnitMillisecond, UnitSecond, UnitMinute, UnitHour, UnitDay, UnitMonth}

// fixed is the length of a grain that always has the same one.
var fixed = map[Unit]Instant{UnitMillisecond: Millisecond, UnitSecond: Second, UnitMinute: Minute, UnitHour: Hour, UnitDay: Day}

// Floor is the last boundary of the grain at or before i.
func (u Unit) Floor(i Instant) Instant {
	if u == UnitMonth {
		t := i.Time()
		return Date(t.Year(), t.Month(), 1)
	}
	step := fixed[u]
	if step == 0 {
		step = Millisecond
	}
	rest := i % step
	if rest < 0 {
		rest += step
	}
	return i - rest
}

// Ceil is the first boundary of the grain at or after i.
func (u Unit) Ceil(i Instant) Instant {
	if floor := u.Floor(i); floor != i {
		return u.Next(floor)
	}
	return i
}

// Next is the boundary after the boundary i.
func (u Unit) Next(i Instant) Instant {
	if u == UnitMonth {
		return Period{Months: 1}.After(i)
	}
	return i + max(fixed[u], Millisecond)
}

// Prev is the boundary before the boundary i: the inclusive upper bound of a window that ends at i.
func (u Unit) Prev(i Instant) Instant {
	if u == UnitMonth {
		return Period{Months: 1}.Before(i)
	}
	return i - max(fixed[u], Millisecond)
}

// Widen is the smallest window on the provider's grain that contains w with the overlap on both sides.
// It is what a slice asks for, while w is what it answers for.
func (w Window) Widen(overlap Period, grain Unit) Window {
	return Window{From: grain.Floor(overlap.Before(w.From)), To: grain.Ceil(overlap.After(w.To))}
}

// Cut divides w into steps. The pieces tile w exactly; the first and last may be shorter so that inner
// boundaries lie on the step's own grid, which makes the same stretch the same slice whoever plans it.
func (w Window) Cut(step Period) []Window {
	var pieces []Window
	for from := w.From; from < w.To; {
		to := step.After(step.Floor(from))
		if to <= from { // a step of no length
			to = w.To
		}
		to = min(to, w.To)
		pieces = append(pieces, Window{From: from, To: to})
		from = to
	}
	return pieces
}

// WindowMode says whether the ends of a plan's window snap to the calendar.
type WindowMode string

// The two modes.
const (
	ModeCalendar WindowMode = "CALENDAR"
	ModeSliding  WindowMode = "SLIDING"
)

// WindowInputs is everything the window of a HARVEST depends on. It is stored with the plan, so that the
// arithmetic can be checked by hand later.
type WindowInputs struct {
	Now       Instant       `json:"now"`
	SafetyLag time.Duration `json:"-"`
	Cursor    *Instant      `json:"cursor,omitempty"`
	Began     *Instant      `json:"began,omitempty"` // the cursor's origin: no look-back reaches before it
	Lookback  Period        `json:"lookback"`
	UserFrom  *Instant      `json:"user_from,omitempty"`
	UserTo    *Instant      `json:"user_to,omitempty"`
	Origin    *Instant      `json:"origin,omitempty"`   // where the source says the first harvest starts
	Earliest  *Instant      `json:"earliest,omitempty"` // no window reaches before it
	Size      Period        `json:"size"`
	Mode      WindowMode    `json:"mode"`
	Align     Unit          `json:"align"`
	Force     bool          `json:"force,omitempty"` // read from where the user says, whatever is covered
}

// WindowDecision is the window and how it came about.
type WindowDecision struct {
	WindowInputs
	NowSafe    Instant `json:"now_safe"`
	LagSeconds float64 `json:"safety_lag_seconds"`
	Window     Window  `json:"window"`
	OriginCode string  `json:"origin_code,omitempty"` // set on the first run: who chose where history begins
	Reason     string  `json:"reason,omitempty"`      // set when the window is empty
}

// Where the first window of a cursor began.
const (
	OriginUser      = "USER"
	OriginConfig    = "CONFIG"
	OriginOneWindow = "ONE_WINDOW"
)

// Why a window is empty.
const (
	ReasonUpToDate = "UP_TO_DATE"
	ReasonInverted = "USER_WINDOW_EMPTY"
	ReasonTooShort = "BELOW_ALIGNMENT" // both ends fall into the same hour, day or month
	ReasonNotYet   = "NOT_YET"         // it begins after now minus the safety lag
)

// HarvestWindow decides what a HARVEST asks for: from the watermark less the look-back, or on the first run
// from the user, the source or one window ago, up to now minus the safety lag.
func HarvestWindow(in WindowInputs) WindowDecision {
	d := WindowDecision{WindowInputs: in, NowSafe: in.Now.Add(-in.SafetyLag), LagSeconds: in.SafetyLag.Seconds()}
	to := d.NowSafe
	if in.UserTo != nil {
		to = min(to, *in.UserTo)
	}
	from := d.from()
	if in.Earliest != nil {
		from = max(from, *in.Earliest)
	}
	d.Window = Window{From: d.grain().Floor(from), To: d.grain().Floor(to)}
	if d.Window.IsEmpty() {
		d.Reason = d.whyEmpty()
	}
	return d
}

func (d *WindowDecision) whyEmpty() string {
	if d.UserFrom != nil && d.UserTo != nil {
		switch {
		case *d.UserFrom >= *d.UserTo:
			return ReasonInverted
		case d.grain().Floor(*d.UserFrom) == d.grain().Floor(*d.UserTo):
			return ReasonTooShort
		}
	}
	if d.UserFrom != nil && d.grain().Floor(*d.UserFrom) >= d.grain().Floor(d.NowSafe) {
		return ReasonNotYet
	}
	return ReasonUpToDate
}

// Asked is the part of the user's own window that could have been read by now. A harvest goes on from its watermark, so
// it may be more than the window: what lies before the origin is history, and is not read by going forward.
func (d WindowDecision) Asked() Window {
	w := d.Window
	if d.UserFrom != nil {
		w.From = min(w.From, d.grain().Floor(*d.UserFrom))
	}
	if d.UserTo != nil {
		w.To = max(w.To, d.grain().Floor(min(*d.UserTo, d.NowSafe)))
	}
	if d.Earliest != nil {
		w.From = max(w.From, d.grain().Floor(*d.Earliest))
	}
	return w
}

// grain is what the ends of the window snap to.
func (d WindowDecision) grain() Unit {
	if d.Mode == ModeCalendar {
		return d.Align
	}
	return UnitMillisecond
}

func (d *WindowDecision) from() Instant {
	switch {
	case d.Force && d.Cursor != nil && d.UserFrom != nil:
		return *d.UserFrom
	case d.Cursor != nil:
		from := d.Lookback.Before(*d.Cursor)
		if d.Began != nil {
			from = max(from, *d.Began)
		}
		if d.UserFrom != nil {
			from = max(from, *d.UserFrom)
		}
		return from
	case d.UserFrom != nil:
		d.OriginCode = OriginUser
		return *d.UserFrom
	case d.Origin != nil:
		d.OriginCode = OriginConfig
		return *d.Origin
	}
	d.OriginCode = OriginOneWindow
	return d.Size.Before(d.NowSafe)
}
