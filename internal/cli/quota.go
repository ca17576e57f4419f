package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"patra"
	"patra/internal/view"
)

// spanText is a window of a quota, for people.
var spanText = map[string]string{patra.QuotaHour: "an hour's", patra.QuotaDay: "a day's", patra.QuotaMonth: "a month's"}

// capital begins a sentence.
func capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// spokenFor says which quota has no room for what was to be planned, and when it has.
func spokenFor(all []patra.QuotaUse) string {
	all = slices.DeleteFunc(slices.Clone(all), func(u patra.QuotaUse) bool { return u.Window == patra.QuotaHour }) // nobody plans by it
	if len(all) == 0 {
		return view.PartialReason(patra.ReasonQuota)
	}
	u := slices.MinFunc(all, func(a, b patra.QuotaUse) int { return cmp.Compare(a.Left(), b.Left()) })
	return fmt.Sprintf("%s quota of %s is used up or spoken for by what waits (%s of %s usable %s used); it begins anew at %s, and the same command goes on then",
		spanText[u.Window], u.Key, thousands(u.Used), thousands(u.Usable), verb(u.Used, "is", "are"), seconds(u.To))
}

// quotaText says what part of a quota some requests take, how much of it is used, and until when it lasts at a rate.
func quotaText(u patra.QuotaUse, units int64, perSecond float64, now patra.Instant) string {
	share := fmt.Sprintf("%.1f %% of %s %s", 100*float64(units)/float64(u.Limit), spanText[u.Window], plural(u.Limit, "request"))
	used := fmt.Sprintf("%s of %s usable %s used", thousands(u.Used), thousands(u.Usable), verb(u.Used, "is", "are"))
	until, lasts := patra.Forecast(u.Used, u.Usable, u.To, now, perSecond)
	switch left := u.Left(); {
	case left == 0:
		return fmt.Sprintf("%s; %s, and it begins anew at %s", share, used, seconds(u.To))
	case lasts || units <= left: // what is asked for ends before the quota does
		return fmt.Sprintf("%s; %s, and it lasts beyond the reset at %s", share, used, seconds(u.To))
	}
	return fmt.Sprintf("%s; %s, and it lasts until %s; it begins anew at %s", share, used, seconds(until), seconds(u.To))
}
