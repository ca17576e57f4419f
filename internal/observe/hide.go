package observe

import (
	"regexp"
	"strings"
	"sync"

	"patra"
)

// mask stands where something was that nobody may see.
const mask = "***"

// mostSecrets is how many values are looked for. A process that asks for a new token every hour would else look for more
// and more of them in every line; the oldest have expired by then.
const mostSecrets = 32

// Secrets are the values that no line may show, as far as this process has met them. It is safe for concurrent use; nil
// knows none.
type Secrets struct {
	mu       sync.RWMutex
	known    map[string]bool
	order    []string // the oldest first
	redactor patra.Redactor
	long     patra.Redactor // of those that nobody writes by chance
}

// Add makes values known. Those that are known already cost nothing.
func (s *Secrets) Add(values ...string) {
	if s == nil {
		return
	}
	for _, v := range values {
		s.mu.RLock()
		known := v == "" || s.known[v]
		s.mu.RUnlock()
		if !known {
			s.learn(v)
		}
	}
}

func (s *Secrets) learn(v string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[v] {
		return
	}
	if s.known == nil {
		s.known = map[string]bool{}
	}
	s.known[v] = true
	if s.order = append(s.order, v); len(s.order) > mostSecrets {
		delete(s.known, s.order[0])
		s.order = s.order[1:]
	}
	var long []string
	for _, v := range s.order {
		if len(v) >= longSecret {
			long = append(long, v)
		}
	}
	s.redactor, s.long = patra.NewRedactor(s.order...), patra.NewRedactor(long...)
}

// longSecret is how long a secret must be to be looked for in whole lines, with their times and words of ours.
const longSecret = 8

func (s *Secrets) look() (all, long patra.Redactor) {
	if s == nil {
		return all, long
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.redactor, s.long
}

// hideKnown takes out known secrets and nothing else.
func (s *Secrets) hideKnown(text string) string {
	all, _ := s.look()
	return all.Text(text)
}

// Hide is a text as others may see it: without known secrets, without what looks like one where secrets usually stand (in
// addresses, in headers, behind names such as api_key), and without addresses and numbers of people.
func (s *Secrets) Hide(text string) string {
	text = s.hideKnown(text)
	if strings.Contains(text, "@") && strings.Contains(text, "://") {
		text = otherLogin.ReplaceAllString(webLogin.ReplaceAllString(text, "${1}"+mask+"@"), "${1}"+mask+"@")
	}
	text = header.ReplaceAllString(text, "${1}"+mask)
	text = scheme.ReplaceAllStringFunc(text, func(found string) string {
		word, value, _ := strings.Cut(found, " ")
		if !strings.ContainsAny(value, "0123456789=") { // "basic research" is no login
			return found
		}
		return word + " " + mask
	})
	if strings.ContainsAny(text, "=%") {
		text = bareKey.ReplaceAllString(parameter.ReplaceAllString(text, "${1}"+mask), "${1}"+mask)
	}
	return patra.Mask(pair.ReplaceAllString(text, "${1}"+mask))
}

// telling are the names behind which secrets stand.
const telling = `(?:pass|pwd|secret|token|api[_.-]?key|access[_.-]?key|signature|credential)`

var (
	webLogin   = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^/\s"'<>?#]*@`)
	otherLogin = regexp.MustCompile(`((?:mysql|rediss?|nats|tls|kafkas?|s3)://)[^\s"'<>]*@`) // a password may hold a slash
	header     = regexp.MustCompile(`(?i)(\b(?:(?:proxy-)?authorization|x-api-key|api-key|(?:set-)?cookie)\\?["']?\s*[:=]\s*\\?["'\[]*)[^\r\n"'\]\\]+`)
	scheme     = regexp.MustCompile(`(?i)\b(?:bearer|basic) +[A-Za-z0-9._~+/=-]{6,}`)
	parameter  = regexp.MustCompile(`(?i)([a-z0-9_.%-]*` + telling + `[a-z0-9_.%-]*(?:=|%3d))[^&\s"'<>,;)\]}\\]+`)
	bareKey    = regexp.MustCompile(`(?i)([?&](?:key|sig|auth)=)[^&\s"'<>,;)\]}\\]+`)
	pair       = regexp.MustCompile(`(?i)(\\*"[a-z0-9_.-]*` + telling + `[a-z0-9_.-]*\\*"\s*:\s*\\*")(?:[^"\\]|\\[^"\\])+`)
	tellingKey = regexp.MustCompile(`(?i)^(?:.*[_.-])?(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_.-]?key|access[_.-]?key|signature|credentials?|authorization|cookie)$`)
)
