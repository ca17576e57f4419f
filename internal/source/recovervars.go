package source

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
)

// RecoverVars finds out of a stored request who sent it: the values of placeholders that are filled in when a request is sent
// and stored nowhere else. What cannot be found stays as it is in otherwise.
func (s *Spec) RecoverVars(request json.RawMessage, otherwise Vars) Vars {
	var sent struct {
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
	}
	if json.Unmarshal(request, &sent) != nil {
		return otherwise
	}
	params := url.Values{}
	if u, err := url.Parse(sent.URL); err == nil {
		params = u.Query()
	}
	switch s.Request.Send {
	case sendForm:
		if form, err := url.ParseQuery(sent.Body); err == nil {
			params = form
		}
	case sendJSON:
		var members map[string]any
		if json.Unmarshal([]byte(sent.Body), &members) == nil {
			for name, v := range members {
				if text, ok := v.(string); ok {
					params.Set(name, text)
				}
			}
		}
	}
	v := otherwise
	for _, headers := range []map[string]string{s.HTTP.Headers, s.Request.Headers} {
		for name, template := range headers {
			v.readOff(template, sent.Headers[name], s.Parameters)
		}
	}
	for name, template := range s.Request.Query {
		if !params.Has(name) { // one without a value is not sent
			if strings.TrimSpace(template) == "${contact}" {
				v.Contact = ""
			}
			continue
		}
		v.readOff(template, params.Get(name), s.Parameters)
	}
	return v
}

// readOff takes values out of a text that was made from a template.
func (v *Vars) readOff(template, text string, params map[string]string) {
	if !strings.Contains(template, "${contact}") && !strings.Contains(template, "${version}") {
		return
	}
	// Values are short and have no room for what stands around them: the shortest that fits is the one.
	pattern, last := "^", 0
	var names []string
	for _, at := range placeholder.FindAllStringSubmatchIndex(template, -1) {
		pattern += regexp.QuoteMeta(template[last:at[0]])
		switch name := template[at[2]:at[3]]; name {
		case "contact", "version":
			pattern += "(.*?)"
			names = append(names, name)
		default:
			pattern += regexp.QuoteMeta(Vars{}.fill(template[at[0]:at[1]], params))
		}
		last = at[1]
	}
	found := regexp.MustCompile(pattern + regexp.QuoteMeta(template[last:]) + "$").FindStringSubmatch(text)
	if found == nil {
		return
	}
	for i, name := range names {
		if name == "contact" {
			v.Contact = found[i+1]
		} else {
			v.Version = found[i+1]
		}
	}
}
