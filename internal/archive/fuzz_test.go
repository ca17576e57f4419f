package archive

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/klauspost/compress/zstd"

	"patra"
)

// FuzzUnpack: a file that somebody changed, or made up, is read as what was put there or refused as damaged. rows are lines
// as they are in a file, before they are packed; raw says that they are the file itself.
func FuzzUnpack(f *testing.F) {
	sum := newRowSum().String() // of no rows
	for _, rows := range []string{"", "{}\n", `{"task_id":1,"rows_sha256":"` + sum + `"}` + "\n", `{"task_id":1,"pages":9223372036854775807,"requests":1}` + "\n", `{"pages":-1,"rows_sha256":"` + sum + `"}` + "\n",
		`{"pages":1}` + "\n" + `{"table":"ing_request","row":{"id":1e999}}` + "\n", "{\"pages\":1}\n[]\n", "no JSON\n", "{} {}\n", "the end is missing"} {
		f.Add([]byte(rows), false)
		f.Add([]byte(rows), true)
	}
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, rows []byte, raw bool) {
		data := rows
		if !raw {
			data = pack.EncodeAll(rows, nil)
		}
		err := unpack(data, func(task patra.ArchivedTask, rows []patra.ArchiveRow) error {
			sum := newRowSum()
			for _, row := range rows {
				if err := sum.add(row); err != nil {
					t.Fatal(err)
				}
			}
			if sum.String() != task.RowsSHA256 {
				t.Errorf("rows of task %d were handed over that are not those of its hash", task.TaskID)
			}
			return nil
		})
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("refused without being called damaged: %v", err)
		}
		if _, err := unpackEvents(data, patra.CompactedEvents{CursorID: 1, RowsSHA256: newRowSum().String()}); err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("events refused without being called damaged: %v", err)
		}
	})
}

// endless is a line that never ends, as a few kilobytes can hold when they are packed.
type endless struct{ given int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.given += int64(len(p)); e.given > 2*maxLine {
		return 0, errors.New("it is still being read")
	}
	return copy(p, bytes.Repeat([]byte{'x'}, len(p))), nil
}

// A line without an end is not read into memory to find out how long it is.
func TestALineWithoutAnEnd(t *testing.T) {
	source := &endless{}
	err := readLine(bufio.NewReader(source), new(any))
	if !errors.Is(err, ErrDamaged) || errors.Is(err, io.EOF) || source.given > maxLine+1<<20 {
		t.Errorf("%d bytes were read, and then %v", source.given, err)
	}
}
