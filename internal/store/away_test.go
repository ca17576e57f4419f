package store

import (
	"database/sql"
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"

	"patra"
)

// That the database is away is told once, whoever notices it how often, and that it is back once; reading says nothing of
// a disk that cannot be written.
func TestAnAbsenceIsToldTwice(t *testing.T) {
	refused := fmt.Errorf("claim: %w", &net.OpError{Op: "dial", Err: errors.New("refused")})
	other := errors.New("more than one row")
	const reading, writing = false, true
	type heard struct {
		err     error
		writing bool
	}
	for _, tt := range []struct {
		name  string
		heard []heard
		want  []bool // Over
	}{
		{"all is well", []heard{{nil, writing}, {nil, reading}, {other, reading}}, nil},
		{"away, for all", []heard{{refused, reading}, {refused, writing}, {refused, reading}, {other, reading}}, []bool{false}},
		{"and back", []heard{{refused, writing}, {refused, reading}, {nil, writing}, {nil, reading}}, []bool{false, true}},
		{"only reading failed", []heard{{refused, reading}, {nil, reading}}, []bool{false, true}},
		{"a full disk can be read", []heard{{refused, writing}, {nil, reading}, {refused, writing}, {nil, reading}, {nil, writing}}, []bool{false, true}},
		{"reading fails before writing", []heard{{refused, reading}, {refused, writing}, {nil, reading}}, []bool{false}},
		{"twice", []heard{{refused, writing}, {nil, writing}, {refused, writing}, {nil, writing}}, []bool{false, true, false, true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []bool
			w := &outageDetector{tell: func(a Outage) {
				if a.Since.IsZero() || !errors.Is(a.Err, refused) {
					t.Errorf("%+v", a)
				}
				got = append(got, a.Over)
			}}
			for _, h := range tt.heard {
				w.heard(h.err, h.writing)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("told %v", got)
			}
		})
	}
}

// A read that fails because nobody is there says so, like a write; what goes wrong with the one who reads the rows does not.
func TestWhoseFaultAFailedReadIs(t *testing.T) {
	s, err := Open(t.Context(), "sqlite:"+t.TempDir()+"/a.db")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	told := 0
	s.OnOutage(func(Outage) { told++ })
	gone := &net.OpError{Op: "write", Err: errors.New("broken pipe")}
	seen := 0
	err = s.read(t.Context()).rows(stmt{"one", "SELECT 1"}, func(*sql.Rows) error { seen++; return gone })
	if seen == 0 || !errors.Is(err, gone) || errors.Is(err, patra.ErrUnavailable) || told != 0 {
		t.Errorf("%d rows, %v, told %d times", seen, err, told)
	}
	out := &Store{dialect: mysqlDialect}
	if err := out.openMySQL("mysql://x@127.0.0.1:1/x"); err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	out.OnOutage(func(Outage) { told++ })
	if _, err := out.CountRecords(t.Context(), "x"); !errors.Is(err, patra.ErrUnavailable) || told != 1 {
		t.Errorf("%v, told %d times", err, told)
	}
}
