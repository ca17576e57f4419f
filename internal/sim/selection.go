package sim

import (
	"slices"
	"strings"
)

// selection says which works an answer is about. All its conditions must hold; the kinds are alternatives.
type selection struct {
	first, last               day // of indexing, both included
	createdFirst, createdLast day // both included; zero is open
	kinds                     []string
	words                     []string // lower case, each somewhere in the title or an author's name
	titleWords                []string // lower case, each somewhere in the title
}

// onlyDays tells whether the number of works can be had without looking at any of them.
func (s *selection) onlyDays() bool {
	return s.createdFirst == 0 && s.createdLast == 0 && len(s.kinds)+len(s.words)+len(s.titleWords) == 0
}

func (s *selection) wants(w *World, sk sketch) bool {
	if d := dayOfMS(sk.changed); d < s.first || d > s.last {
		return false
	}
	if len(s.kinds) > 0 && !slices.Contains(s.kinds, sk.kind) {
		return false
	}
	if s.createdFirst != 0 && sk.created < s.createdFirst.ms() {
		return false
	}
	if s.createdLast != 0 && sk.created >= (s.createdLast+1).ms() {
		return false
	}
	return len(s.words)+len(s.titleWords) == 0 || s.wantsText(w.names(&sk))
}

func (s *selection) wantsText(p Paper) bool {
	title := strings.ToLower(p.Title)
	if !containsAll(title, s.titleWords) {
		return false
	}
	if len(s.words) == 0 {
		return true
	}
	for _, a := range p.Authors {
		title += " " + strings.ToLower(a.Given+" "+a.Family)
	}
	return containsAll(title, s.words)
}

func containsAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}
