package source

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// BodyWithKey is a body with a key in it, another field of a form or another member of a JSON object, and what the body
// says it is. A link to the next page is followed without a body; then the key is all there is.
func (s *Spec) BodyWithKey(body []byte, key string) (with []byte, kind string, err error) {
	name := s.Auth.Name
	if s.Request.Send == sendForm {
		field := url.QueryEscape(name) + "=" + url.QueryEscape(key)
		return []byte(strings.TrimPrefix(string(body)+"&"+field, "&")), typeForm, nil
	}
	members := map[string]any{}
	if err := json.Unmarshal(body, &members); err != nil && len(body) > 0 {
		return nil, "", fmt.Errorf("the body is no JSON object that could hold the key")
	}
	members[name] = key
	with, err = json.Marshal(members)
	return with, typeJSON, err
}

// withoutKey takes our key out of a link that the provider sent: positions are stored, and the key is put in again when
// the link is followed. Everything else stays byte for byte.
func (s *Spec) withoutKey(link string) string {
	if s.Pagination.Type != pageURL || s.Auth.Type != AuthKey || s.Auth.In != InQuery {
		return link
	}
	before, query, found := strings.Cut(link, "?")
	if !found {
		return link
	}
	query, fragment, _ := strings.Cut(query, "#")
	var kept []string
	for part := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if name != s.Auth.Name {
			kept = append(kept, part)
		}
	}
	if query = strings.Join(kept, "&"); query != "" {
		before += "?" + query
	}
	if fragment != "" {
		before += "#" + fragment
	}
	return before
}
