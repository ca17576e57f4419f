package patra_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"patra"
)

func events() *rapid.Generator[patra.RecordEvent] {
	return rapid.Custom(func(t *rapid.T) patra.RecordEvent {
		code := rapid.SampledFrom([]string{"a", "b", "ab"})
		return patra.RecordEvent{Source: code.Draw(t, "source"), Type: code.Draw(t, "type"), ID: rapid.SampledFrom([]string{"1", "11", "a", "a\x001", "1\x00a"}).Draw(t, "id"),
			Rev: rapid.SampledFrom([]int64{1, 2, 11}).Draw(t, "rev")}
	})
}

func TestTwoEventsHaveOneKeyOnlyIfTheyAreOneVersion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := events().Draw(t, "a"), events().Draw(t, "b")
		sameRecord := a.Source == b.Source && a.Type == b.Type && a.ID == b.ID
		if (a.OrderKey() == b.OrderKey()) != sameRecord {
			t.Errorf("order keys of %+v and %+v", a, b)
		}
		if (a.Key() == b.Key()) != (sameRecord && a.Rev == b.Rev) {
			t.Errorf("keys of %+v and %+v", a, b)
		}
	})
}

func TestAnEventSaysWhatBecameOfTheRecord(t *testing.T) {
	at := patra.Date(2026, 5, 1)
	before := "abc"
	e := patra.RecordEvent{Source: "demo", Type: "work", ID: "10.5/x", Rev: 2, UpdatedAt: &at, Hash: "def", Previous: &before, Fields: json.RawMessage(`{"title":"A"}`),
		Lineage: patra.EventLineage{Plan: 1, Slice: 2, Task: 3, Run: 4, Batch: 5}}
	if e.EventType() != patra.EventUpserted || e.Subject() != "demo/work/10.5/x" {
		t.Errorf("%s of %s", e.EventType(), e.Subject())
	}
	want := `{"source":"demo","record_type":"work","id":"10.5/x","rev":2,"updated_at":"2026-05-01T00:00:00.000Z","deleted":false,"content_sha256":"def","prev_sha256":"abc",` +
		`"lineage":{"plan":1,"slice":2,"task":3,"run":4,"batch":5},"fields":{"title":"A"}}`
	if got := e.JSON(); got != want {
		t.Error(got)
	}
	var back patra.RecordEvent
	if err := json.Unmarshal([]byte(e.JSON()), &back); err != nil || !reflect.DeepEqual(back, e) {
		t.Errorf("%+v, %v", back, err)
	}
	if e.Retracted = true; e.EventType() != patra.EventRetracted {
		t.Error("a retraction is told as any other version")
	}
	if e.Deleted = true; e.EventType() != patra.EventDeleted {
		t.Error("a record that is gone is told as one that is there")
	}
	if e.MergedInto = "10.5/y"; e.EventType() != patra.EventMerged {
		t.Error("nobody is told where the record went")
	}
	if err := json.Unmarshal([]byte(e.JSON()), &back); err != nil || !reflect.DeepEqual(back, e) {
		t.Errorf("%+v, %v", back, err)
	}
}
