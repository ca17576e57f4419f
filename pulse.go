package patra

import (
	"fmt"
	"slices"
)

// ChangeToken is where everything stands that grows: whoever compares two of them knows what happened in between, without having
// seen it.
type ChangeToken struct {
	Plans, Runs, Pages, Moves, Events, Records, Quarantine, Healing, Audit, Signals, Requests, Controls int64
	Running                                                                                             int64 // tasks
}

// The topics that a pulse tells apart.
const (
	TopicPlans      = "plans"
	TopicTasks      = "tasks"
	TopicBatches    = "batches"
	TopicCursors    = "cursors"
	TopicRecords    = "records"
	TopicQuarantine = "quarantine"
	TopicHealing    = "healing"
	TopicControls   = "controls"
	TopicGates      = "gates"
	TopicSignals    = "signals"
	TopicEvents     = "events"
	TopicAudit      = "audit"
)

// parts are the numbers in the order in which they are written, with what a change of each means. An event says that a
// task or a plan has ended, or that a record has changed.
func (p *ChangeToken) parts() []pulsePart {
	return []pulsePart{
		{&p.Plans, []string{TopicPlans, TopicTasks}},
		{&p.Runs, []string{TopicTasks}},
		{&p.Pages, []string{TopicBatches, TopicGates}},
		{&p.Moves, []string{TopicCursors, TopicTasks, TopicPlans}},
		{&p.Events, []string{TopicEvents, TopicTasks, TopicPlans, TopicRecords}},
		{&p.Records, []string{TopicRecords}},
		{&p.Quarantine, []string{TopicQuarantine}},
		{&p.Healing, []string{TopicHealing}},
		{&p.Audit, []string{TopicAudit, TopicControls, TopicGates, TopicTasks, TopicPlans, TopicCursors, TopicQuarantine}},
		{&p.Signals, []string{TopicSignals}},
		{&p.Requests, []string{TopicGates}},
		{&p.Controls, []string{TopicControls, TopicTasks}},
		{&p.Running, []string{TopicTasks, TopicBatches}},
	}
}

type pulsePart struct {
	n      *int64
	topics []string
}

// ChangedTopics are the topics of what is different from before, each once.
func (p ChangeToken) ChangedTopics(before ChangeToken) []string {
	now, was := p.parts(), before.parts()
	var topics []string
	for i := range now {
		if *now[i].n == *was[i].n {
			continue
		}
		for _, t := range now[i].topics {
			if !slices.Contains(topics, t) {
				topics = append(topics, t)
			}
		}
	}
	return topics
}

// String is a pulse as a position that can be given back.
func (p ChangeToken) String() string {
	var text []byte
	for i, part := range p.parts() {
		if i > 0 {
			text = append(text, '-')
		}
		text = fmt.Appendf(text, "%x", *part.n)
	}
	return string(text)
}

// ParseChangeToken reads what String wrote. ok is false for anything else.
func ParseChangeToken(text string) (p ChangeToken, ok bool) {
	parts := p.parts()
	var rest string
	for i, part := range parts {
		format := "%x-%s"
		if i == len(parts)-1 {
			format = "%x"
		}
		var err error
		if i == len(parts)-1 {
			_, err = fmt.Sscanf(text, format, part.n)
		} else {
			_, err = fmt.Sscanf(text, format, part.n, &rest)
		}
		if err != nil || *part.n < 0 {
			return ChangeToken{}, false
		}
		text = rest
	}
	return p, true
}
