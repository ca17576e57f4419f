package cli

import (
	"io/fs"
	"os"
	"regexp"
	"runtime"
	"strings"

	"patra/internal/config"
)

// protectedFile is a file that not everybody may read.
type protectedFile struct {
	path, what string
	key        bool // whoever reads it can do things in our name
}

// examineFiles looks whether others on this machine can read what is ours.
func (a *app) examineFiles(cfg config.Config) (found []finding) {
	path, _ := a.configFile()
	files := []protectedFile{{keyFile(cfg), "the key that signs bundles", true}, {cfg.API.TLS.Key, "the key of the certificate", true}}
	if file, ok := strings.CutPrefix(cfg.Store.URL, "sqlite:"); ok {
		files = append(files, protectedFile{file, "the store", false}, protectedFile{file + "-wal", "the log of the store", false})
	}
	if namesPassword(path) {
		files = append(files, protectedFile{path, "patra.yaml, which has a password", true})
	}
	if dir, ok := folderOf(cfg, cfg.Evidence.URL, besideStore); ok && cfg.Evidence.URL != config.EvidenceNone {
		found = append(found, judgeFolder(dir)...)
	}
	looked := 0
	for _, g := range files {
		if g.path == "" {
			continue
		}
		info, err := os.Stat(g.path)
		if err != nil {
			continue // whoever needs it says that it is not there
		}
		looked++
		found = append(found, judgeMode(g, info.Mode())...)
	}
	if len(found) == 0 && looked > 0 {
		found = append(found, passed("files", "Nobody else on this machine can read the store or its keys"))
	}
	return found
}

// judgeFolder says that others may look into the folder of the answers. One of a group may be meant so, and is told too.
func judgeFolder(dir string) []finding {
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm()&0o077 == 0 || runtime.GOOS == "windows" {
		return nil
	}
	return []finding{warn("files", "chmod 700 "+dir, "Others on this machine may look into the folder of kept answers (%s, mode %04o)", dir, info.Mode().Perm())}
}

// judgeMode says who may read or change a file that should not.
func judgeMode(g protectedFile, mode fs.FileMode) []finding {
	next := "chmod 600 " + g.path
	switch open := mode.Perm() & 0o007; {
	case open == 0 || runtime.GOOS == "windows": // which has no such bits
		return nil
	case g.key:
		return []finding{fail("files", next, "Everybody on this machine may read or change %s (%s, mode %04o)", g.what, g.path, mode.Perm())}
	default:
		return []finding{warn("files", next, "Everybody on this machine may read or change %s (%s, mode %04o)", g.what, g.path, mode.Perm())}
	}
}

// password is one that stands in an address as it is, and not by a reference such as ${env:DB_PASSWORD}.
var password = regexp.MustCompile(`://[^\s/:@]*:[^\s/@$]+@`)

// namesPassword reports whether a configuration holds a password.
func namesPassword(path string) bool {
	text, err := os.ReadFile(path)
	return err == nil && password.Match(text)
}
