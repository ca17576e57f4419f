package source_test

import (
	"fmt"
	"strings"
	"testing"

	"patra"
)

// nested are lists inside each other.
func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

// One record that is too large or nests too deeply goes into quarantine, and the others of its page are read.
func TestARecordHasLimits(t *testing.T) {
	p := compile(t, write(get, offset, jsonList, `{title: "$.title"}`))
	lines := compile(t, write(get, offset, `{format: JSONL, id: "$.id", updatedAt: "$.at", total: {trust: NONE}}`, `{title: "$.title"}`))
	byID := compile(t, write(get, offset, `{format: JSON, items: "$.items", order: "$.order", id: "$.id", total: {trust: NONE}}`, `{title: "$.title"}`))
	for name, c := range map[string]struct{ member, want string }{
		"as deep as can be": {nested(199), "[1 2 3]"}, "too deep": {nested(200), "[1 TOO_DEEP 2 3]"}, "deeper than the standard library reads": {nested(20_000), "[1 TOO_DEEP 2 3]"}, "a hundred and fifty thousand deep": {nested(150_000), "[1 TOO_DEEP 2 3]"},
		"brackets in a text": {`"` + strings.Repeat("[", 30_000) + `"`, "[1 2 3]"}, "deep with texts inside": {strings.Repeat(`{"a\"]":["]",`, 9_000) + "0" + strings.Repeat("]}", 9_000), "[1 TOO_DEEP 2 3]"},
		"too large": {`"` + strings.Repeat("x", 17<<20) + `"`, "[1 TOO_LARGE 2 3]"}, "large": {`"` + strings.Repeat("x", 15<<20) + `"`, "[1 2 3]"},
	} {
		second := `{"id":"2","x":` + c.member + `}`
		for form, read := range map[string]func() ([]string, error){
			"a list": func() ([]string, error) {
				page, err := p.Read(200, []byte(`{"total":3,"items":[{"id":"1"},`+second+`,{"id":"3"}]}`), "0")
				return namesOf(t, p.Records(&page, 1)), err
			},
			"lines": func() ([]string, error) {
				page, err := lines.Read(200, []byte("\ufeff{\"id\":\"1\"}\n"+second+"\n{\"id\":\"3\"}\n"), "0")
				return namesOf(t, lines.Records(&page, 1)), err
			},
			"a map": func() ([]string, error) {
				page, err := byID.Read(200, []byte(`{"order":["1","2","3"],"items":{"1":{"id":"1"},"2":`+second+`,"3":{"id":"3"}}}`), "0")
				return namesOf(t, byID.Records(&page, 1)), err
			},
		} {
			got, err := read()
			if fmt.Sprint(got) != c.want || err != nil {
				t.Errorf("%s in %s: %s, %v and not %s", name, form, got, err, c.want)
			}
		}
	}
}

// namesOf are the ids of records, and the codes of items that are none.
func namesOf(t *testing.T, records func(func(patra.Observation, error) bool)) (all []string) {
	t.Helper()
	for o, err := range records {
		if err == nil {
			all = append(all, o.ID)
			continue
		}
		fault := patra.AsFault(err)
		if all = append(all, fault.Code+" "+o.ID); fault.Level != patra.LevelData {
			t.Error(err)
		}
	}
	return all
}

// A byte order mark is no mistake; cut off, no JSON and too deep are three things.
func TestWhatIsWrongWithJSONIsSaid(t *testing.T) {
	p := compile(t, write(get, offset, jsonList, noFields))
	const whole = `{"total":1,"items":[{"id":"1"}]}`
	page, err := p.Read(200, []byte("\ufeff"+whole), "0")
	if err != nil || len(page.Items) != 1 || len(page.Repairs) > 0 {
		t.Errorf("a byte order mark: %+v, %v", page, err)
	}
	for body, want := range map[string]string{
		whole[:len(whole)-3]:                      "BAD_BODY: the body is not whole: it ends inside of a JSON value",
		`{"total":1,"items":[{"id":"1`:            "BAD_BODY: the body is not whole: it ends inside of a JSON value",
		whole + "x":                               "UNREADABLE: the body is no JSON from byte 33 on",
		"Internal error":                          "UNREADABLE: the body is no JSON from byte 1 on",
		`{"total":1,"items":[{'id':"1"}]}`:        "UNREADABLE: the body is no JSON from byte 22 on",
		"{\"total\":1,\"items\":[\x00]}":          "UNREADABLE: the body is no JSON from byte 21 on",
		`{"x":` + nested(20_000) + `,"items":[]}`: "TOO_DEEP: the body nests too deeply to be read",
		nested(20_000):                            "TOO_DEEP: the body nests too deeply to be read",
		"\ufeff":                                  "BAD_BODY: the body is empty",
		"<html>":                                  "WEB_PAGE: the provider answered with a web page instead of data",
	} {
		if _, err := p.Read(200, []byte(body), "0"); err == nil || err.Error() != want {
			t.Errorf("%.60q: %v and not %s", body, err, want)
		}
	}
}
