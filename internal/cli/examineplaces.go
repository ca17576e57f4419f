package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"patra"
	"patra/internal/blob"
	"patra/internal/config"
)

// placeTime is how long a place has to take, show and forget a blob.
const placeTime = 15 * time.Second

// examinePlaces tries the places where answers and old pages are kept.
func (a *app) examinePlaces(ctx context.Context, cfg config.Config) []finding {
	found := []finding{}
	if cfg.Evidence.URL == config.EvidenceNone {
		found = append(found, passed("evidence", "The answers of providers are not kept (evidence.url is none)"))
	} else {
		found = append(found, a.examinePlace(ctx, cfg, "evidence", cfg.Evidence.URL, besideStore, cfg.Evidence.AccessKey, cfg.Evidence.SecretKey)...)
	}
	if cfg.Archive.After == 0 && cfg.Archive.URL == "" {
		return append(found, passed("archive", "Old pages stay where they are (archive.after is 0s)"))
	}
	return append(found, a.examinePlace(ctx, cfg, "archive", cfg.Archive.URL, "archive", cfg.Archive.AccessKey, cfg.Archive.SecretKey)...)
}

// examinePlace puts a blob, reads it and forgets it. A folder that is not there yet is not made: whether it could be is
// looked at where it would stand.
func (a *app) examinePlace(ctx context.Context, cfg config.Config, check, url, folder, key, secret string) []finding {
	next := "See that " + check + ".url is right, and that patra may write there; until then no page can be committed"
	if check == "archive" {
		next = "See that archive.url is right, and that patra may write there; until then old pages stay in the store"
	}
	if dir, ok := folderOf(cfg, url, folder); ok {
		there := standing(dir)
		if there != dir {
			found := examineFolder(check, there, dir)
			if found[0].Verdict == patra.VerdictOK {
				return []finding{passed(check, "%s is not there yet, and is made when it is needed", dir)}
			}
			return found
		}
		if found := examineFolder(check, dir, dir); found[0].Verdict != patra.VerdictOK {
			return found
		}
	}
	place, err := a.place(cfg, url, folder, key, secret)
	if err != nil {
		return []finding{fail(check, next, "It cannot be opened: %s", err)}
	}
	ctx, cancel := context.WithTimeout(ctx, placeTime)
	defer cancel()
	if err := roundTrip(ctx, place); err != nil {
		return []finding{fail(check, next, "%s does not keep what it is given: %s", place, err)}
	}
	return []finding{passed(check, "%s takes, shows and forgets", place)}
}

// roundTrip puts something, reads it and forgets it.
func roundTrip(ctx context.Context, place blob.Backend) error {
	name, data := "doctor/"+rand.Text(), []byte(rand.Text())
	if err := place.Put(ctx, name, data); err != nil {
		return err
	}
	got, err := place.Get(ctx, name)
	if forgot := place.Delete(ctx, name); err == nil {
		err = forgot
	}
	if err == nil && !bytes.Equal(got, data) {
		err = errors.New("it gives back something else")
	}
	return err
}

// folderOf is the folder of a place that is one.
func folderOf(cfg config.Config, url, folder string) (string, bool) {
	if strings.HasPrefix(url, "s3:") {
		return "", false
	}
	dir := folder
	if named, ok := strings.CutPrefix(url, "file:"); ok {
		dir = named
	} else if file, ok := strings.CutPrefix(cfg.Store.URL, "sqlite:"); ok {
		dir = filepath.Join(filepath.Dir(file), folder)
	}
	dir, err := filepath.Abs(dir)
	return dir, err == nil
}

// standing is the folder itself, or the nearest one above it that is there.
func standing(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}
