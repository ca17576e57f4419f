package sim

// fault names what was done to a request; the names appear in the access log and in the statistics.
type fault string

const (
	faultNone fault = ""

	// A provider that is asked too much.
	faultThrottle    fault = "throttle"
	faultUnavailable fault = "unavailable"
	faultAbsurd      fault = "absurd-wait"

	// A provider that breaks.
	faultError      fault = "server-error"
	faultExpire     fault = "expire-token"
	faultReset      fault = "reset"
	faultCut        fault = "cut-body"
	faultCutChunked fault = "cut-chunked"
	faultCutPlain   fault = "cut-plain"
	faultHalfGzip   fault = "half-gzip"
	faultSlow       fault = "slow-body"
	faultTimeout    fault = "timeout"
	faultTransient  fault = "transient-error"

	// A provider that says what is not so.
	faultHTML      fault = "html-page"
	faultErrorBody fault = "error-body"
	faultEmptyBody fault = "empty-body"
	faultTotal     fault = "wrong-total"
	faultEmptyPage fault = "empty-page"
	faultShort     fault = "short-page"
	faultDouble    fault = "duplicate-id"

	faultShortLength fault = "short-length"
	faultLongLength  fault = "long-length"
	faultBomb        fault = "gzip-bomb"
	faultTrickle     fault = "trickle"
	faultHang        fault = "no-headers"
	faultAuth        fault = "unauthorized"
	faultStorm       fault = "storm"
	faultNoContent   fault = "no-content"
	faultPartial     fault = "partial-content"
	faultNotModified fault = "not-modified"
	faultBroken      fault = "broken-body"
	faultNoNext      fault = "no-next"
	faultOld         fault = "old-version"
	faultElsewhere   fault = "redirect"
	faultDamaged     fault = "damaged-page"
)

// chances are the faults with their probabilities, in the order of precedence. New ones are added at the end, so that
// a seed draws the same old faults as before.
func (f Faults) chances() []chance {
	return []chance{
		{faultThrottle, f.Throttle}, {faultError, f.ServerError}, {faultExpire, f.ExpireToken}, {faultReset, f.Reset},
		{faultCut, f.CutBody}, {faultTimeout, f.Timeout},
		{faultUnavailable, f.Unavailable}, {faultAbsurd, f.AbsurdWait},
		{faultCutChunked, f.CutChunked}, {faultCutPlain, f.CutPlain}, {faultHalfGzip, f.HalfGzip}, {faultSlow, f.SlowBody},
		{faultTransient, f.Transient},
		{faultHTML, f.HTMLPage}, {faultErrorBody, f.ErrorBody}, {faultEmptyBody, f.EmptyBody},
		{faultTotal, f.WrongTotal}, {faultEmptyPage, f.EmptyPage}, {faultShort, f.ShortPage}, {faultDouble, f.Duplicate},
		{faultShortLength, f.ShortLength}, {faultLongLength, f.LongLength}, {faultBomb, f.GzipBomb}, {faultTrickle, f.Trickle}, {faultHang, f.Hang},
		{faultAuth, f.Unauthorized}, {faultStorm, f.Storm}, {faultNoContent, f.NoContent}, {faultPartial, f.Partial}, {faultNotModified, f.NotModified},
		{faultBroken, f.BrokenBody}, {faultNoNext, f.NoNext}, {faultOld, f.OldVersion},
		{faultElsewhere, f.Redirect}, {faultDamaged, f.Damaged},
	}
}

type chance struct {
	fault fault
	p     float64
}

// fate draws what shall happen to the n-th request. All draws are made whatever the probabilities are, so raising one
// leaves the others where they were. A fault that finds nothing to do it to (no cursor to expire, no list to shorten, a
// provider that has no such error) does nothing and is not counted.
func (f Faults) fate(seed, n uint64) fault {
	d := newDice(seed^0xfa17, n)
	drawn := faultNone
	for _, c := range f.chances() {
		if d.chance(c.p) && drawn == faultNone {
			drawn = c.fault
		}
	}
	return drawn
}

// lie tells whether the answer is a page, if not quite the right one.
func (f fault) lie() bool {
	return f == faultTotal || f == faultEmptyPage || f == faultShort || f == faultDouble || f == faultNoNext || f == faultOld || f == faultDamaged
}
