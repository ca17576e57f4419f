package observe

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"patra"
)

// mask stands where something was that nobody may see.
const mask = "***"

// mostPassing is how many values are looked for that pass. A process that asks for a new token every hour would else look for
// more and more of them in every line; the oldest have expired by then. mostLasting is far more than settings name: only a
// process whose secrets are changed for years comes that far.
const mostPassing, mostLasting = 32, 512

// Secrets are the values that no line may show, as far as this process has met them. It is safe for concurrent use; nil
// knows none.
type Secrets struct {
	mu       sync.RWMutex
	known    map[string]bool
	lasting  []string // the oldest first
	passing  []string // likewise
	redactor patra.Redactor
	long     patra.Redactor // of those that nobody writes by chance
}

// Add makes values known that last, such as what the settings name. Those that are known already cost nothing.
func (s *Secrets) Add(values ...string) { s.add(false, values) }

// AddTemporary makes values known of which there are ever new ones, such as tokens: they take the place of the oldest of them, and
// of nothing that lasts.
func (s *Secrets) AddTemporary(values ...string) { s.add(true, values) }

func (s *Secrets) add(passes bool, values []string) {
	if s == nil {
		return
	}
	for _, v := range values {
		s.mu.RLock()
		known := v == "" || s.known[v]
		s.mu.RUnlock()
		if !known {
			s.learn(passes, v)
		}
	}
}

func (s *Secrets) learn(passes bool, v string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[v] {
		return
	}
	if s.known == nil {
		s.known = map[string]bool{}
	}
	s.known[v] = true
	list, most := &s.lasting, mostLasting
	if passes {
		list, most = &s.passing, mostPassing
	}
	if *list = append(*list, v); len(*list) > most {
		delete(s.known, (*list)[0])
		*list = (*list)[1:]
	}
	all := slices.Concat(s.lasting, s.passing)
	s.redactor = patra.NewRedactor(all...)
	s.long = patra.NewRedactor(slices.DeleteFunc(all, func(v string) bool { return len(v) < longSecret })...)
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

// redactKnown takes out known secrets and nothing else.
func (s *Secrets) redactKnown(text string) string {
	all, _ := s.look()
	return all.Text(text)
}

// Redact is a text as others may see it: without known secrets, without what looks like one where secrets usually stand (in
// addresses, in headers, behind names such as api_key), and without addresses and numbers of people.
func (s *Secrets) Redact(text string) string {
	text = s.redactKnown(text)
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
