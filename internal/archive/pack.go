package archive

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/klauspost/compress/zstd"

	"patra"
)

// packWriter is a file of an archive while it is written: for each task a line that says what follows, and a line for each row.
type packWriter struct {
	out   bytes.Buffer
	zip   *zstd.Encoder
	size  int64 // before compression
	tasks []patra.ArchivedTask
}

func newPack() (*packWriter, error) {
	p := &packWriter{}
	var err error
	p.zip, err = zstd.NewWriter(&p.out, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true))
	return p, err
}

// add writes the rows of a task, and completes what is known of it.
func (p *packWriter) add(a patra.ArchivedTask, rows []patra.ArchiveRow, sum string) error {
	a.RowsSHA256 = sum
	for _, row := range rows {
		switch row.Table {
		case "ing_task_run_batch":
			a.Pages++
		case "ing_request":
			a.Requests++
		case "ing_task_item":
			a.Items++
		}
	}
	if err := p.line(a); err != nil {
		return err
	}
	for _, row := range rows {
		if err := p.line(row); err != nil {
			return err
		}
	}
	p.tasks = append(p.tasks, a)
	return nil
}

func (p *packWriter) line(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	p.size += int64(len(text)) + 1
	_, err = p.zip.Write(append(text, '\n'))
	return err
}

// close gives the finished file.
func (p *packWriter) close() ([]byte, error) {
	err := p.zip.Close()
	return p.out.Bytes(), err
}

// rowSum is the hash of rows in their order.
type rowSum struct{ hash.Hash }

func newRowSum() rowSum { return rowSum{sha256.New()} }

func (s rowSum) add(row patra.ArchiveRow) error {
	text, err := json.Marshal(row) // keys of a map are sorted
	if err != nil {
		return err
	}
	s.Write(text)
	s.Write([]byte{'\n'})
	return nil
}

func (s rowSum) String() string { return hex.EncodeToString(s.Sum(nil)) }

// maxLine bounds a row. No page's row comes near it.
const maxLine = 64 << 20

// unpack hands over the tasks of a file with their rows, and sees that they are what was put there.
func unpack(data []byte, use func(patra.ArchivedTask, []patra.ArchiveRow) error) error {
	zip, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	defer zip.Close()
	lines := bufio.NewReader(zip)
	for {
		var task patra.ArchivedTask
		if err := readLine(lines, &task); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		rows, err := readRows(lines, task.Pages+task.Requests+task.Items, task.RowsSHA256)
		if err != nil {
			return fmt.Errorf("task %d: %w", task.TaskID, err)
		}
		if err := use(task, rows); err != nil {
			return err
		}
	}
}

// unpackEvents gives the events of a file.
func unpackEvents(data []byte, want patra.CompactedEvents) ([]patra.ArchiveRow, error) {
	zip, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	defer zip.Close()
	lines := bufio.NewReader(zip)
	var head eventHead
	if err := readLine(lines, &head); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if head.CursorID != want.CursorID || head.RowsSHA256 != want.RowsSHA256 {
		return nil, fmt.Errorf("these are not the events that the tables know: %w", ErrDamaged)
	}
	return readRows(lines, head.Events, head.RowsSHA256)
}

// readRows reads so many rows, and sees that they are those of a hash.
func readRows(lines *bufio.Reader, n int64, want string) (rows []patra.ArchiveRow, err error) {
	sum := newRowSum()
	for range n {
		var row patra.ArchiveRow
		if err := readLine(lines, &row); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		if err := sum.add(row); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	if sum.String() != want {
		return nil, ErrDamaged
	}
	return rows, nil
}

// readLine reads a line of JSON with numbers as they are written.
func readLine(r *bufio.Reader, into any) error {
	var line []byte
	var err error
	for {
		var part []byte
		part, err = r.ReadSlice('\n')
		if len(line)+len(part) > maxLine { // a few kilobytes can hold a line that no memory can
			return fmt.Errorf("a line of more than %d bytes: %w", maxLine, ErrDamaged)
		}
		if line = append(line, part...); !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	if err != nil {
		if len(line) > 0 {
			return fmt.Errorf("the end is missing: %w", ErrDamaged)
		}
		return err
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil
}
