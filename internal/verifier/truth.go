package verifier

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"

	"patra/internal/sim"
)

// mark is half of a hash: enough to tell a million texts apart, and small enough to keep them all.
type mark [16]byte

func markOf(text []byte) mark {
	sum := sha256.Sum256(text)
	return mark(sum[:16])
}

// version is a line of the journal, made small.
type version struct {
	text            mark
	at, from, until int64
	line            int64 // where it begins in the file
	next            int32 // the version before it of the same record; -1 for none
	number          int32
	must            bool // it was there throughout a complete reading
	have            bool // its record is stored or set aside; said of the last version only
	poisoned        bool
	waived          bool
}

// throughout tells whether it was visible during a whole reading.
func (v *version) throughout(began, ended int64) bool {
	return v.from <= began && (v.until == 0 || v.until > ended)
}

// truth is what a provider really had.
type truth struct {
	of, file string
	last     map[mark]int32 // the last version of a record, by the record's name
	versions []version
	judged   *judgement // what came of comparing it with the records; nil as long as nobody did
}

// longestLine is the most that a line may have.
const longestLine = 1 << 20

// shortLine is what a line of the journal has at least, or nearly so.
const shortLine = 140

func readTruth(of, file string) (*truth, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	room := info.Size()/shortLine + 1 // what grows by doubling takes twice as much
	t := &truth{of: of, file: file, last: make(map[mark]int32, room), versions: make([]version, 0, room)}
	at := int64(0)
	err = eachLine(file, func(line []byte) error {
		var l sim.TruthLine
		if err := json.Unmarshal(line, &l); err != nil {
			return fmt.Errorf("%s: at byte %d there is no version of a record: %w", file, at, err)
		}
		var text [sha256.Size]byte
		if n, err := hex.Decode(text[:], []byte(l.SHA256)); err != nil || n != len(text) {
			return fmt.Errorf("%s: %s has no hash", file, l.ID)
		}
		v := version{text: mark(text[:16]), at: l.AtUS, from: l.FromUS, until: l.UntilUS, line: at, next: -1, number: int32(l.Number), poisoned: l.Poisoned}
		name := markOf([]byte(l.ID))
		if before, ok := t.last[name]; ok {
			v.next = before
		}
		t.last[name] = int32(len(t.versions))
		t.versions = append(t.versions, v)
		at += int64(len(line)) + 1
		return nil
	})
	return t, err
}

// name reads the name of a version again, which is needed only for those who are found.
func (t *truth) name(v *version) string {
	f, err := os.Open(t.file)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	var l sim.TruthLine
	if err := json.NewDecoder(io.NewSectionReader(f, v.line, longestLine)).Decode(&l); err != nil {
		return err.Error()
	}
	return l.ID
}

// record gives the versions of a record, the newest first.
func (t *truth) record(name string) (all []*version) {
	i, ok := t.last[markOf([]byte(name))]
	if !ok {
		return nil
	}
	for ; i >= 0; i = t.versions[i].next {
		all = append(all, &t.versions[i])
	}
	return all
}

// settle notes that a record is stored or set aside.
func (t *truth) settle(name []byte) {
	if i, ok := t.last[markOf(name)]; ok {
		t.versions[i].have = true
	}
}

// inherited are declarations that an element of a page has from those around it. What is kept of the page has them itself.
var inherited = regexp.MustCompile(`^(<[\w:]+)( xmlns:\w+="[^"]*")+`)

// stored is the number of the version that a text is, 0 if it is none.
func stored(versions []*version, raw []byte, code string) int32 {
	if code == "XML" {
		raw = inherited.ReplaceAll(raw, []byte("$1"))
	}
	is, compact := markOf(raw), mark{}
	if code == "JSON" {
		var b bytes.Buffer
		if json.Compact(&b, raw) == nil {
			compact = markOf(b.Bytes())
		}
	}
	for _, v := range versions {
		if !v.poisoned && (v.text == is || v.text == compact) {
			return v.number
		}
	}
	return 0
}

// eachLine hands out the lines of a file, without their ends.
func eachLine(file string, use func([]byte) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		if err := use(lines.Bytes()); err != nil {
			return err
		}
	}
	return lines.Err()
}
