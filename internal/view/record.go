package view

import (
	"context"
	"errors"
	"strings"

	"patra"
)

// Records is what a record is looked up in. RecordsWithID gives those of every repository; an empty list is no error.
type Records interface {
	RecordTypes(ctx context.Context, source string) ([]string, error)
	RecordsWithID(ctx context.Context, source, recordType, id string) ([]patra.Record, error)
}

// RecordName names a record as people do. The type and the repository may be left out where one is meant that is the only one.
type RecordName struct{ Source, Type, Repository, ID string }

// FindRecord is the record that is named; nil if it is not stored. An id that several repositories have is refused, and the
// problem names them.
func FindRecord(ctx context.Context, s Records, name RecordName) (*patra.Record, error) {
	types := []string{name.Type}
	if name.Type == "" {
		var err error
		if types, err = s.RecordTypes(ctx, name.Source); err != nil {
			return nil, err
		}
	}
	for _, t := range types {
		found, err := s.RecordsWithID(ctx, name.Source, t, name.ID)
		if err != nil {
			return nil, err
		}
		var all []string
		for i, r := range found {
			if name.Repository != "" && r.Repository == name.Repository {
				return &found[i], nil
			}
			all = append(all, r.Repository)
		}
		switch {
		case name.Repository != "" || len(found) == 0:
		case len(found) == 1:
			return &found[0], nil
		default:
			return nil, ambiguous(name, all)
		}
	}
	return nil, nil
}

// ambiguous refuses an id that says too little.
func ambiguous(name RecordName, repositories []string) error {
	for i, r := range repositories {
		if r == "" { // read before repositories were told apart, by a source that is not known any more
			repositories[i] = "(none)"
		}
	}
	return patra.Invalid("repository", "%s has %q in %d repositories: %s; say which one with {repository}", name.Source, name.ID, len(repositories), strings.Join(repositories, ", "))
}

// ErrNoSubject says that a text names no record.
var ErrNoSubject = errors.New("not SOURCE/TYPE/ID")

// RecordBySubject is the record that an event is about, by its subject: SOURCE/TYPE/ID, and behind a blank the repository if the
// source has several. Nil if it is not stored.
func RecordBySubject(ctx context.Context, s Records, subject string) (*patra.Record, error) {
	parts := strings.SplitN(subject, "/", 3)
	if len(parts) != 3 {
		return nil, ErrNoSubject
	}
	name := RecordName{Source: parts[0], Type: parts[1], ID: parts[2]}
	if at := strings.LastIndexByte(parts[2], ' '); at > 0 {
		one := name
		one.ID, one.Repository = parts[2][:at], parts[2][at+1:]
		if rec, err := FindRecord(ctx, s, one); err != nil || rec != nil {
			return rec, err
		}
	}
	return FindRecord(ctx, s, name)
}
