package patra

import "time"

// WindowMode says whether the ends of a plan's window snap to the calendar.
type WindowMode string

// The two modes.
const (
	ModeCalendar WindowMode = "CALENDAR"
	ModeSliding  WindowMode = "SLIDING"
)

// WindowInputs is everything the window of a plan depends on. It is stored with the plan, so that the
// arithmetic can be checked by hand later.
type WindowInputs struct {
	Operation Operation     `json:"operation"`
	Now       Instant       `json:"now"`
	SafetyLag time.Duration `json:"-"`
	Cursor    *Instant      `json:"cursor,omitempty"`
	Began     *Instant      `json:"began,omitempty"`         // the cursor's origin: no look-back reaches before it
	Forward   *Instant      `json:"forward,omitempty"`       // of a BACKFILL: the watermark of the harvest, which it never passes
	ForwardAt *Instant      `json:"forward_began,omitempty"` // of a BACKFILL: where the harvest began, which is where history ends
	ByID      bool          `json:"by_id,omitempty"`         // of an UPDATE: the window is for pacing only
	Lookback  Period        `json:"lookback"`
	UserFrom  *Instant      `json:"user_from,omitempty"`
	UserTo    *Instant      `json:"user_to,omitempty"`
	Origin    *Instant      `json:"origin,omitempty"`   // where the source says the first harvest starts
	Earliest  *Instant      `json:"earliest,omitempty"` // no window reaches before it
	Size      Period        `json:"size"`
	Mode      WindowMode    `json:"mode"`
	Align     Unit          `json:"align"`
	Force     bool          `json:"force,omitempty"` // read from where the user says, whatever is covered
	Fill      bool          `json:"fill,omitempty"`  // read what is missing since the cursor's origin, or since where the user says

	LagConfigured float64 `json:"safety_lag_configured,omitempty"` // seconds, where late arrivals have moved the lag
	LateRate      float64 `json:"late_rate,omitempty"`
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

	ReasonNobody    = "NO_CANDIDATES" // no record is to be fetched again
	ReasonNoHistory = "NO_HISTORY"    // a backfill would begin where the harvest has been already
)

// PlanWindow decides what a plan asks for.
func PlanWindow(in WindowInputs) WindowDecision {
	d := WindowDecision{WindowInputs: in, NowSafe: in.Now.Add(-in.SafetyLag), LagSeconds: in.SafetyLag.Seconds()}
	to := d.to()
	from := d.from(to)
	if in.Earliest != nil {
		from = max(from, *in.Earliest)
	}
	d.Window = Window{From: d.grain().Floor(from), To: d.grain().Floor(to)}
	if d.Window.IsEmpty() {
		d.Reason = d.whyEmpty()
	}
	return d
}

// EndAt is where the window would have ended if the plan had been made at another moment, with everything else as it was.
func (d WindowDecision) EndAt(now Instant) Instant {
	in := d.WindowInputs
	in.Now, in.SafetyLag = now, time.Duration(d.LagSeconds*float64(time.Second))
	return PlanWindow(in).Window.To
}

// to is where the window ends: never after now minus the safety lag, and for history never after where the harvest is.
func (d *WindowDecision) to() Instant {
	to := d.NowSafe
	if d.UserTo != nil {
		to = min(to, *d.UserTo)
	}
	if d.Operation != Backfill {
		return to
	}
	if d.Forward != nil {
		to = min(to, *d.Forward)
	}
	if d.UserTo == nil && d.ForwardAt != nil {
		to = min(to, *d.ForwardAt)
	}
	return to
}

// from is where the window begins.
func (d *WindowDecision) from(to Instant) Instant {
	if d.Fill && d.Began != nil {
		if d.UserFrom != nil {
			return *d.UserFrom
		}
		return *d.Began
	}
	switch d.Operation {
	case Backfill:
		return d.resumed(d.Size.Before(to))
	case Update:
		if d.ByID {
			return d.orOneWindow(d.UserFrom, d.NowSafe)
		}
		return d.resumed(d.Size.Before(d.NowSafe))
	}
	return d.harvestFrom()
}

// resumed goes on from the cursor, or begins where the user says, or one window back. What lies before the beginning of a
// cursor can be asked for all the same: nothing that is covered is read again.
func (d *WindowDecision) resumed(oneWindow Instant) Instant {
	switch {
	case d.Cursor != nil && d.UserFrom != nil && (d.Force || (d.Began != nil && *d.UserFrom < *d.Began)):
		return *d.UserFrom
	case d.Cursor != nil && d.UserFrom != nil:
		return max(*d.Cursor, *d.UserFrom)
	case d.Cursor != nil:
		return *d.Cursor
	case d.UserFrom != nil:
		d.OriginCode = OriginUser
		return *d.UserFrom
	}
	d.OriginCode = OriginOneWindow
	return oneWindow
}

func (d *WindowDecision) orOneWindow(from *Instant, to Instant) Instant {
	if from != nil {
		return *from
	}
	return d.Size.Before(to)
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
	if d.Operation == Backfill && d.Cursor == nil {
		return ReasonNoHistory
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
	if d.UserTo != nil && d.Operation != Backfill { // which ends where the harvest is, whatever the user says
		w.To = max(w.To, d.grain().Floor(min(*d.UserTo, d.NowSafe)))
	}
	if d.Earliest != nil {
		w.From = max(w.From, d.grain().Floor(*d.Earliest))
	}
	return w
}

// Horizon is how far a harvest decided like this one could have read by now.
func (d WindowDecision) Horizon(now Instant) Instant {
	return d.grain().Floor(now.Add(-time.Duration(d.LagSeconds * float64(time.Second))))
}

// grain is what the ends of the window snap to.
func (d WindowDecision) grain() Unit {
	if d.Mode == ModeCalendar {
		return d.Align
	}
	return UnitMillisecond
}

// harvestFrom goes on from the watermark less the look-back, or begins where the user or the source says, or one window
// back: never silently with all of history.
func (d *WindowDecision) harvestFrom() Instant {
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
