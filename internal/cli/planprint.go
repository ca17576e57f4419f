package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"patra"
	"patra/internal/planner"
	"patra/internal/query"
	"patra/internal/view"
)

// printDecision shows the arithmetic that led to the window.
func (a *app) printDecision(r *planner.Draft) {
	d := r.Decision
	fmt.Fprintf(a.stdout, "Plan      %s\n", r.Plan.Key)
	fmt.Fprintf(a.stdout, "Now       %s, less a safety lag of %s = %s\n", d.Now, time.Duration(d.LagSeconds*float64(time.Second)), d.NowSafe)
	if d.LagConfigured > 0 && d.LagConfigured != d.LagSeconds {
		fmt.Fprintf(a.stdout, "Lag       %s is configured; %.2f %% of the last days' records came late\n", time.Duration(d.LagConfigured*float64(time.Second)), 100*d.LateRate)
	}
	switch {
	case d.ByID:
		fmt.Fprintln(a.stdout, "Known     records are fetched again by their ids; the window is for pacing only")
	case d.Cursor != nil && d.Operation == patra.Harvest:
		fmt.Fprintf(a.stdout, "Watermark %s, looked back %s\n", d.WindowInputs.Cursor, d.Lookback)
	case d.Cursor != nil:
		fmt.Fprintf(a.stdout, "Watermark %s of campaign %s, which began at %s\n", d.WindowInputs.Cursor, r.Plan.Campaign, d.Began)
	default:
		fmt.Fprintf(a.stdout, "Watermark none yet; history begins at %s (%s)\n", d.Window.From, originText[d.OriginCode])
	}
	if d.Forward != nil {
		fmt.Fprintf(a.stdout, "Harvest   began at %s and has come to %s, which no backfill passes\n", d.ForwardAt, d.Forward)
	}
	if d.Window.IsEmpty() {
		window := d.Window.String()
		if d.Window.From > d.Window.To { // nobody wants to read where it ends
			window = "from " + d.Window.From.String()
		}
		fmt.Fprintf(a.stdout, "Window    %s is empty: %s\n", window, patra.Spell(view.EmptyReason(d, r.Cursor), flagName))
		return
	}
	align := ""
	if d.Mode == patra.ModeCalendar {
		align = fmt.Sprintf(", aligned to %s", d.Align)
	}
	fmt.Fprintf(a.stdout, "Window    %s%s\n", d.Window, align)
	for _, w := range r.Warnings {
		fmt.Fprintf(a.stdout, "Warning   %s (%s)\n", w.Text, w.Code)
	}
}

// printPrice shows what a plan would do and cost.
func (a *app) printPrice(v *planView) {
	if v.Decision.Window.IsEmpty() {
		return
	}
	p := v.Price
	if v.Existing != nil {
		fmt.Fprintf(a.stdout, "Known     plan %d was made before, with %s\n", v.Existing.ID, plural(v.Existing.SliceCount, "slice"))
	}
	asked := "nothing was asked"
	if v.Probes > 0 {
		asked = plural(int64(v.Probes), "count") + " asked of the provider"
	}
	fmt.Fprintf(a.stdout, "Slices    %s by %s, %s\n", plural(p.Slices, "slice"), v.Plan.Strategy, asked)
	if p.Slices == 0 {
		return
	}
	proof := ""
	if more := p.Requests - p.Plain; more > 0 {
		proof = fmt.Sprintf("; %s of them only prove that nothing is missing", thousands(more))
	}
	fmt.Fprintf(a.stdout, "Proof     %s%s\n", wrapped(witnessOf(v.Draft).String(), 10), proof)
	fmt.Fprintf(a.stdout, "Price     about %s in %s%s\n", plural(p.Records, "record"), plural(p.Requests, "request"), sizeText(p.Bytes))
	tariff := v.Spec.Tariff(a.have)
	pace := fmt.Sprintf("at the permitted %g requests a second", tariff.PerSecond)
	if float64(p.Requests) < p.Seconds*tariff.PerSecond/2 {
		pace = "within the quota"
	}
	fmt.Fprintf(a.stdout, "Time      %s %s; done by %s\n", roughly(p.Seconds), pace, p.Finish.Time().Format("2006-01-02 15:04 UTC"))
	for _, u := range v.Quota {
		fmt.Fprintf(a.stdout, "Quota     %s\n", quotaText(u, p.Requests*max(tariff.Cost, 1), tariff.PerSecond*float64(max(tariff.Cost, 1)), v.Decision.Now))
	}
	fmt.Fprintln(a.stdout)
	t := newTable(a.stdout, "purpose", "answers for", "asks for", "records", "by")
	for _, sl := range v.Slices {
		t.AppendRow([]any{sl.Purpose, answersFor(sl), sl.Fetch, thousands(sl.Estimate.Records), sl.Estimate.Grounds})
	}
	t.Render()
	if rest := p.Slices - int64(len(v.Slices)); rest > 0 {
		fmt.Fprintf(a.stdout, "... and %s more (-o json lists all)\n", thousands(rest))
	}
}

// witnessOf is how the windows of a plan are proved.
func witnessOf(d *planner.Draft) patra.WitnessPlan {
	question, err := query.ParseJSON(d.Plan.ExprProto)
	if err != nil {
		question = query.All()
	}
	return d.Spec.Witness(question)
}

// nextCommand is what works on the same cursor.
func nextCommand(d *planner.Draft) string {
	words := []string{"patra", strings.ToLower(string(d.Plan.Operation)), d.Plan.Source}
	if len(d.Spec.Parameters) > 0 {
		for _, name := range slices.Sorted(maps.Keys(d.Spec.Parameters)) {
			words = append(words, "--param", patra.ShellWord(name+"="+d.Spec.Parameters[name]))
		}
	}
	if q := queryText(d.Plan.ExprProto); q != "" {
		words = append(words, "-q", patra.ShellWord(q))
	}
	if d.Plan.Campaign != "" && d.Plan.Campaign != patra.DefaultCampaign && !d.Decision.ByID {
		words = append(words, "--campaign", d.Plan.Campaign)
	}
	if d.Decision.ByID {
		words = append(words, "--by-id")
	}
	return strings.Join(words, " ")
}

func sizeText(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	units, n := []string{"B", "kB", "MB", "GB", "TB"}, float64(bytes)
	i := 0
	for n >= 1000 && i < len(units)-1 {
		n /= 1000
		i++
	}
	return fmt.Sprintf(", %.3g %s", n, units[i])
}

// roughly is a length of time as a person says it.
func roughly(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Second:
		return "less than a second"
	case d < time.Minute:
		return d.Round(time.Second / 10).String()
	case d < 48*time.Hour:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
	return fmt.Sprintf("%.1f days", d.Hours()/24)
}

var originText = map[string]string{patra.OriginUser: "you said so", patra.OriginConfig: "the source says so", patra.OriginOneWindow: "one window back, because nobody said"}

// days is a set of windows for people: `2026-01-01~2026-01-04, ...`.
func days(c patra.Coverage, most int) string { return view.Windows(c, most) }
