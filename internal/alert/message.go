package alert

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"

	"patra"
	"patra/internal/store"
)

// Message is what is told at once: one notice, or many that came together.
type Message struct {
	Test  bool   `json:"test,omitempty"` // somebody tries whether messages arrive
	ID    string `json:"id"`             // the same if it is sent again
	Title string `json:"title"`
	Items []Item `json:"alerts"`
}

// Item is one alert in a message.
type Item struct {
	Notice   int64                  `json:"notice"` // its number; the same if it is sent again
	What     patra.NotificationKind `json:"what"`
	ID       int64                  `json:"id"`
	Kind     patra.AlertKind        `json:"kind"`
	Severity patra.Severity         `json:"severity"`
	Target   string                 `json:"target"`
	Source   string                 `json:"source,omitempty"`
	Said     string                 `json:"said"`
	Next     string                 `json:"next"`
	Since    *patra.Instant         `json:"since,omitempty"`
	FiredAt  *patra.Instant         `json:"fired_at,omitempty"`
	EndedAt  *patra.Instant         `json:"resolved_at,omitempty"`
	Runbook  string                 `json:"runbook"`
}

// How long texts are at most, in characters, and how many alerts people are shown in one message.
const (
	mostSaid   = 600
	mostTarget = 120
	mostShown  = 15
)

// MessageOf makes a message of notices.
func MessageOf(told []store.PendingNotification) Message {
	m := Message{ID: fmt.Sprintf("notice/%d", told[0].ID)}
	ended := 0
	for _, t := range told {
		a := t.Alert
		i := Item{Notice: t.ID, What: t.Kind, ID: a.ID, Kind: a.Kind, Severity: a.Severity, Target: OneLine(a.Target, mostTarget), Source: a.Link.Source, Said: OneLine(a.Said, mostSaid), Next: OneLine(a.Next, mostSaid),
			Since: a.Since, FiredAt: a.FiredAt, Runbook: Runbook(a.Kind)}
		if t.Kind == patra.NoticeResolved {
			i.EndedAt = a.ResolvedAt
			ended++
		}
		m.Items = append(m.Items, i)
	}
	if len(told) == 1 {
		m.Title = m.Items[0].title()
		return m
	}
	m.ID = fmt.Sprintf("notice/%d-%d", told[0].ID, told[len(told)-1].ID)
	m.Title = fmt.Sprintf("%d alerts: %d fire, %d are over", len(told), len(told)-ended, ended)
	return m
}

// TestMessage is what somebody sends to see whether it arrives.
func TestMessage(now patra.Instant) Message {
	return Message{Test: true, ID: "test/" + now.String(), Title: "Test of Patra: alerts arrive here", Items: []Item{{What: patra.NoticeFired, Kind: patra.AlertIdle, Severity: patra.SeverityNotice, Target: "test",
		Said: "This is a test. Nothing is wrong.", Next: "nothing", FiredAt: &now, Runbook: Runbook(patra.AlertIdle)}}}
}

// Runbook is where it stands what to do about a kind of alert.
func Runbook(k patra.AlertKind) string { return "docs/alerts.md#" + strings.ToLower(string(k)) }

var begins = map[patra.NotificationKind]string{patra.NoticeFired: "", patra.NoticeRepeat: "Still ", patra.NoticeResolved: "Over: "}

func (i Item) title() string {
	return fmt.Sprintf("%s%s %s: %s", begins[i.What], i.Severity, i.Kind, i.Target)
}

// lines is an alert for people, every text through escape.
func (i Item) lines(escape func(string) string) (said, rest string) {
	said = fit(escape, i.Said, 1500)
	switch {
	case i.EndedAt != nil && i.FiredAt != nil:
		return said, fmt.Sprintf("It lasted %s.", i.EndedAt.Sub(*i.FiredAt).Round(time.Second))
	case i.ID != 0:
		return said, "Next: " + fit(escape, i.Next, 800) + "\nAlert " + fmt.Sprint(i.ID) + ", " + escape(i.Runbook)
	}
	return said, ""
}

// fit is an escaped text that has not more than so many bytes, cut between two characters and not within what stands for one.
func fit(escape func(string) string, text string, most int) string {
	for r := []rune(text); ; r = r[:len(r)*3/4] {
		if out := escape(string(r)); len(out) <= most {
			return out
		}
	}
}

// OneLine is a text on one line without anything that is no character of a text, masked, and not longer than so many characters.
// What stands in an alert comes from providers too.
func OneLine(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r): // also those that turn the direction of writing
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	text = patra.Mask(strings.Join(strings.Fields(text), " "))
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

// apart keeps a word from being a mention: behind the sign stands a space of no width.
const apart = "@\u200b"

// slackText is a text that means nothing to Slack: no mention, no link, no formatting.
var slackText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "@", apart, "*", "∗", "_", "＿", "~", "∼", "`", "'").Replace

// markdownText is a text that means nothing in Markdown, and mentions nobody.
var markdownText = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "(", `\(`, ")", `\)`, "#", `\#`, "!", `\!`, "<", "&lt;", ">", "&gt;", "|", `\|`, "~", `\~`, "@", apart).Replace

// slack is the message as Slack and those like it want it.
func (m Message) slack() ([]byte, error) {
	type text struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	type block struct {
		Type string `json:"type"`
		Text text   `json:"text"`
	}
	section := func(s string) block { return block{"section", text{"mrkdwn", s}} }
	blocks := []block{section("*" + slackText(m.Title) + "*")}
	for n, i := range m.Items {
		if n == mostShown {
			blocks = append(blocks, section(fmt.Sprintf("and %d more: patra alerts", len(m.Items)-n)))
			break
		}
		said, rest := i.lines(slackText)
		head := ""
		if len(m.Items) > 1 {
			head = "*" + slackText(i.title()) + "*\n"
		}
		blocks = append(blocks, section(strings.TrimRight(head+said+"\n"+rest, "\n")))
	}
	return json.Marshal(map[string]any{"text": slackText(m.Title), "blocks": blocks, "unfurl_links": false, "unfurl_media": false})
}

// dingtalk is the message as a robot of DingTalk wants it.
func (m Message) dingtalk() ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "#### %s\n\n", markdownText(m.Title))
	for n, i := range m.Items {
		if n == mostShown {
			fmt.Fprintf(&b, "and %d more: patra alerts\n", len(m.Items)-n)
			break
		}
		if len(m.Items) > 1 {
			fmt.Fprintf(&b, "**%s**\n\n", markdownText(i.title()))
		}
		said, rest := i.lines(markdownText)
		fmt.Fprintf(&b, "%s\n\n%s\n\n", said, strings.ReplaceAll(rest, "\n", "\n\n"))
	}
	return json.Marshal(map[string]any{"msgtype": "markdown", "markdown": map[string]string{"title": markdownText(m.Title), "text": strings.TrimSpace(b.String())}, "at": map[string]any{"isAtAll": false}})
}
