package rawxml

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// Whatever is sent, it is read or refused in a time that grows with its length and no faster.
func TestHostileTextsTakeNoLongerThanTheyAre(t *testing.T) {
	const length = 1 << 20
	isItem := func(d *Doc, n Node, _ int) bool { return string(d.Local(n)) == "b" }
	for _, part := range []string{
		"<!--", "<!-- -- ", "<![CDATA[", "<?x ", "<!DOCTYPE ", `<!DOCTYPE "`, "\x01", "\x01a", "&", "&#1;", "&#", "&nbsp;", "<", "<b", "<b ", "<b>", "</c>", "<b x=1>", "<b x='<", "<b><c></b>", "]]>", "\xff", "<b></c>", `<b x="`, "<a>", "</a",
	} {
		text := []byte("<a>" + strings.Repeat(part, length/len(part)) + "</a>")
		began := time.Now()
		r := Repair(text)
		var d Doc
		_ = d.Salvage(r.Text, isItem)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%d bytes of %q took %s", len(text), part, took)
		}
		if len(r.edits) > mostEdits {
			t.Errorf("%q: %d edits", part, len(r.edits))
		}
	}
}

// A place in the repaired text is a place in the text as it came.
func TestARepairedPlaceIsWhereItWasSent(t *testing.T) {
	text := []byte("<r>\x01<b>&nbsp;&amp;</b>&<b>\xff</b><!-- -- --><b/>]]><b>x</b></r>")
	r := Repair(text)
	var d Doc
	if err := d.Reset(r.Text); err != nil {
		t.Fatal(err)
	}
	var got []string
	for n := range d.nodes {
		if d.Kind(Node(n)) == Element {
			from, to := d.Span(Node(n))
			got = append(got, string(text[r.Sent(from):r.Sent(to)]))
		}
	}
	if want := []string{string(text), "<b>&nbsp;&amp;</b>", "<b>\xff</b>", "<b/>", "<b>x</b>"}; strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%q and not %q", got, want)
	}
	if same := Repair(r.Text); len(same.edits) > 0 || !bytes.Equal(same.Text, r.Text) {
		t.Errorf("%q is repaired again", r.Text)
	}
}
