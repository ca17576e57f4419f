package sim

import (
	"fmt"
	"strconv"
	"strings"
)

// Every id ends in a code of twelve letters and digits: the day, the place in the day and a check drawn from the
// seed. So an id can be looked up without an index, and two worlds share no ids.
const (
	dayDigits   = 4
	placeDigits = 5
	checkDigits = 3
	codeLength  = dayDigits + placeDigits + checkDigits
)

func (w *World) code(d day, n int) string {
	var c [codeLength]byte
	base36(c[:dayDigits], uint64(d))
	base36(c[dayDigits:dayDigits+placeDigits], uint64(n))
	base36(c[dayDigits+placeDigits:], mix(w.seed^mix(uint64(d)<<32|uint64(n))))
	return string(c[:])
}

// base36 fills the digits with the last places of n.
func base36(digits []byte, n uint64) {
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = "0123456789abcdefghijklmnopqrstuvwxyz"[n%36]
		n /= 36
	}
}

// drawDOI gives most papers a plain id and some the kinds that break careless software: parentheses, the old
// serial-item form with angle brackets and a semicolon, and characters that mean something else in a URL.
func (w *World) drawDOI(s *sketch, j *journal) string {
	code, at := w.code(s.day, s.n), s.day.time()
	switch r := s.dice.n(100); {
	case r < 85:
		return j.prefix + "/" + j.short + "." + strconv.Itoa(at.Year()) + "." + code
	case r < 93:
		return fmt.Sprintf("%s/s%s(%02d)%s", j.prefix, strings.ToLower(j.issn), at.Year()%100, code)
	case r < 98:
		return fmt.Sprintf("%s/(sici)%s(%s)%d:%d<%d::aid-%s>3.0.co;2-%s", j.prefix, strings.ToLower(j.issn),
			at.Format("20060102"), 1+s.dice.n(60), 1+s.dice.n(12), 1+s.dice.n(900), j.short, code)
	default:
		return fmt.Sprintf("%s/%s:q&a?[n+1]#%s", j.prefix, j.short, code)
	}
}

// find gives the paper of an id, in any case of letters, as ids of this kind are compared.
func (w *World) find(doi string) (Paper, bool) {
	doi = strings.ToLower(doi)
	s, ok := w.decode(doi[max(len(doi)-codeLength, 0):])
	if !ok {
		return Paper{}, false
	}
	p := w.paper(s)
	return p, p.DOI == doi
}

// decode gives the paper of a code; its check is not looked at.
func (w *World) decode(code string) (sketch, bool) {
	if len(code) != codeLength {
		return sketch{}, false
	}
	d, err1 := strconv.ParseUint(code[:dayDigits], 36, 63)
	n, err2 := strconv.ParseUint(code[dayDigits:dayDigits+placeDigits], 36, 63)
	count := w.count(day(d))
	if err1 != nil || err2 != nil || int(n) >= count {
		return sketch{}, false
	}
	s := w.sketch(day(d), int(n), count)
	return s, w.shows(&s)
}
