package query

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// MaxNumber is the largest number of a query. It leaves room for one step beyond it within the integers that a double
// holds exactly.
const MaxNumber = 1<<53 - 1

var numberForm = regexp.MustCompile(`^(-?)0*(\d{1,16}?)(?:\.(\d{1,12}?)0*)?$`)

// parseNumber reads a plain decimal number. One that a double cannot hold digit for digit is refused, because the
// provider would be asked for another number than the one that was written.
func parseNumber(text string) (float64, error) {
	m := numberForm.FindStringSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("%q is not a number; write 2000 or 1.5", text)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f > MaxNumber || f < -MaxNumber {
		return 0, fmt.Errorf("%q is out of reach", text)
	}
	if f == 0 {
		return 0, nil // also for -0
	}
	plain := m[1] + m[2]
	if frac := strings.TrimRight(m[3], "0"); frac != "" {
		plain += "." + frac
	}
	if numberText(f) != plain {
		return 0, fmt.Errorf("%q has more digits than can be kept", text)
	}
	return f, nil
}

// numberText writes a number without an exponent.
func numberText(f float64) string {
	if f == 0 {
		return "0"
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
