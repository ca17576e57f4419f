package source

import (
	"bytes"
	"runtime"
	"testing"
	"weak"
)

// A document is there for the next page, also if memory was collected meanwhile.
func TestASpareDocumentIsKept(t *testing.T) {
	var s pool[document]
	d := s.get()
	s.put(d, 100)
	runtime.GC()
	runtime.GC()
	if s.get() != d {
		t.Error("it was forgotten")
	}
	if s.get() == d {
		t.Error("two were given the same")
	}
}

// Documents that nobody uses keep no more room than they may, and are not many.
func TestSpareDocumentsAreFew(t *testing.T) {
	var s pool[document]
	for range 5 {
		s.put(new(document), most)
	}
	if len(s.free) != mostSpare/most {
		t.Errorf("%d large ones are kept", len(s.free))
	}
	s.get()
	for range 2 * mostSpares {
		s.put(new(document), 1)
	}
	if len(s.free) != mostSpares {
		t.Errorf("%d are kept", len(s.free))
	}
}

// A document that was given back holds nothing of the page that it was.
func TestASpareDocumentForgetsItsPage(t *testing.T) {
	for _, item := range []string{`{"a":["b",{"c":"d"}]}`, `<a xmlns:p="q" xmlns="r"><p:b p:c="d">e</p:b></a>`} {
		body := bytes.Clone([]byte(item))
		page := weak.Make(&body[0])
		var doc any
		if item[0] == '{' {
			doc, _ = openJSON(body)
		} else {
			doc, _ = openXML(body)
		}
		release(doc)
		runtime.GC()
		if page.Value() != nil {
			t.Errorf("%s is still there", item)
		}
		runtime.KeepAlive(doc)
	}
}
