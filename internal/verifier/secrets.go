package verifier

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// needles are the forms in which a secret may stand somewhere.
func needles(secrets []string) (all [][]byte) {
	for _, s := range secrets {
		forms := []string{s, url.QueryEscape(s), url.PathEscape(s)}
		if quoted, err := json.Marshal(s); err == nil {
			forms = append(forms, strings.Trim(string(quoted), `"`))
		}
		for shift := range 3 { // where in a longer text it begins decides what it looks like
			for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
				text := e.EncodeToString(append(make([]byte, shift), s...))
				first, last := (shift*8+5)/6, len(text)
				if (shift+len(s))%3 != 0 {
					last--
				}
				forms = append(forms, text[first:last])
			}
		}
		for _, f := range forms {
			if !contains(all, []byte(f)) {
				all = append(all, []byte(f))
			}
		}
	}
	return all
}

func contains(all [][]byte, one []byte) bool {
	for _, n := range all {
		if bytes.Equal(n, one) {
			return true
		}
	}
	return false
}

// hides tells whether a text has a secret in it. The secret itself is never told.
func hides(text []byte, all [][]byte) bool {
	for _, n := range all {
		if bytes.Contains(text, n) {
			return true
		}
	}
	return false
}

func askSecrets(ctx context.Context, s *Scene, v *Invariant) error {
	all := needles(s.Secrets)
	if len(all) == 0 {
		return v.skip("no secrets were given (-secrets)")
	}
	names, err := s.tableNames(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := s.searchTable(ctx, name, all, v); err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
	}
	for _, file := range s.Logs {
		if err := searchFile(file, all, v); err != nil {
			return err
		}
	}
	if s.seen != nil {
		for _, r := range s.seen.referers {
			if v.Looked++; hides([]byte(r), all) {
				v.found("the provider was told a secret in a Referer")
			}
		}
	}
	if s.Evidence == "" {
		return nil
	}
	return filepath.WalkDir(s.Evidence, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if v.Looked++; hides(data, all) || hides(unpacked(data), all) {
			v.found("a secret stands in %s", file)
		}
		return nil
	})
}

func (s *Scene) tableNames(ctx context.Context) (all []string, err error) {
	query := `SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'`
	if s.files {
		query = `SELECT name FROM sqlite_master WHERE type = 'table'`
	}
	err = s.each(ctx, query, func(r *sql.Rows) error {
		var name string
		err := r.Scan(&name)
		all = append(all, name)
		return err
	})
	return all, err
}

// searchTable reads every column of every row. The name comes from the database itself.
func (s *Scene) searchTable(ctx context.Context, name string, all [][]byte, v *Invariant) error {
	var cells []sql.RawBytes
	var places []any
	var columns []string
	return s.each(ctx, "SELECT * FROM "+name, func(r *sql.Rows) (err error) {
		if columns == nil {
			if columns, err = r.Columns(); err != nil {
				return err
			}
			cells, places = make([]sql.RawBytes, len(columns)), make([]any, len(columns))
			for i := range cells {
				places[i] = &cells[i]
			}
		}
		if err := r.Scan(places...); err != nil {
			return err
		}
		for i, c := range cells {
			if v.Looked++; hides(c, all) {
				v.found("a secret stands in %s.%s", name, columns[i])
			}
		}
		return nil
	})
}

// searchFile reads a file in pieces that overlap by more than a secret is long.
func searchFile(file string, all [][]byte, v *Invariant) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	v.Looked++
	const overlap = 4096
	piece, kept := make([]byte, 1<<20), 0
	for {
		n, err := io.ReadFull(f, piece[kept:])
		if hides(piece[:kept+n], all) {
			v.found("a secret stands in %s", file)
			return nil
		}
		if err != nil {
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				return nil
			}
			return err
		}
		kept = copy(piece, piece[len(piece)-overlap:])
	}
}
