package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"patra"
	"patra/internal/strictyaml"
)

// Codes of the problems found here, beside those of strictyaml.
const (
	CodeNoFile     = "NO_FILE"      // the file that was named is not there
	CodeUnreadable = "UNREADABLE"   // the file is there and cannot be read
	CodeMissingEnv = "MISSING_ENV"  // the file refers to a variable that is not set
	CodeUnknownEnv = "UNKNOWN_ENV"  // a PATRA_ variable that means nothing
	CodeOutOfRange = "OUT_OF_RANGE" // a number or a length of time that makes no sense there
)

// readLimit is one byte more than is accepted, so that a file that is too long is seen to be.
const readLimit = 1<<20 + 1

// Load reads the defaults, then the file at path, then the variables in environ ("NAME=value"), and checks the result.
// A file that is not there matters only when it was asked for explicitly. Every mistake is reported, as
// patra.Problems: those of the file by line, then those of the environment.
func Load(path string, explicit bool, environ []string) (Config, error) {
	data, err := read(path, explicit)
	if err != nil {
		return Config{}, err
	}
	env := environment(environ)
	cfg := Default()
	doc, problems := decode(path, data, env, &cfg)
	from, found := override(&cfg, env)
	problems = append(problems, found...)
	if doc != nil {
		problems = append(problems, check(cfg, doc, from, problems)...)
	}
	if len(problems) > 0 {
		return Config{}, sorted(problems)
	}
	return cfg, nil
}

// read gives the text of the file, and an empty one when it need not be there.
func read(path string, explicit bool) ([]byte, error) {
	if path == "" && !explicit {
		return nil, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		if !explicit {
			return nil, nil
		}
		return nil, patra.Problems{{
			Code: CodeNoFile, File: path, Text: "there is no such file", Hint: "write one with `patra init`, or name another",
		}}
	}
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, readLimit))
	if err != nil {
		return nil, unreadable(path, err)
	}
	return data, nil
}

// unreadable takes the reason alone out of err, which names the path again.
func unreadable(path string, err error) error {
	if found, ok := errors.AsType[*fs.PathError](err); ok {
		err = found.Err
	}
	return patra.Problems{{Code: CodeUnreadable, File: path, Text: fmt.Sprintf("the file cannot be read: %v", err)}}
}

// decode lays the file over cfg. The document is nil when the file is not YAML at all; then nothing more can be said
// about its values.
func decode(path string, data []byte, env map[string]string, cfg *Config) (*strictyaml.Document, patra.Problems) {
	doc, err := strictyaml.Parse(path, data)
	if err != nil {
		return nil, problemsOf(err)
	}
	problems := expand(doc, env)
	return doc, append(problems, problemsOf(doc.Decode(cfg))...)
}

func problemsOf(err error) patra.Problems {
	if err == nil {
		return nil
	}
	if found, ok := errors.AsType[patra.Problems](err); ok {
		return found
	}
	return patra.Problems{{Code: patra.CodeInternal, Text: err.Error()}}
}
