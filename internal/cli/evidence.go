package cli

import (
	"patra"

	"fmt"
	"path/filepath"
	"strings"

	"patra/internal/blob"
	"patra/internal/config"
	"patra/internal/evidence"
)

// besideStore is the folder for answers where nobody names one.
const besideStore = "evidence"

// evidence is where the answers of providers are kept; nil if the configuration says nowhere.
func (a *app) evidence(c config.Config) (*evidence.BodyStore, error) {
	if c.Evidence.URL == config.EvidenceNone {
		return nil, nil
	}
	place, err := a.place(c, c.Evidence.URL, besideStore, c.Evidence.AccessKey, c.Evidence.SecretKey)
	if err != nil {
		return nil, patra.Environment(fmt.Errorf("answers cannot be kept (evidence.url): %w", err))
	}
	return evidence.NewKeeper(place), nil
}

// place opens a folder or a bucket; where nobody names one, it is a folder beside the file of the store.
func (a *app) place(c config.Config, url, folder, key, secret string) (blob.Backend, error) {
	if strings.HasPrefix(url, "s3:") {
		return a.bucket(url, key, secret)
	}
	if named, ok := strings.CutPrefix(url, "file:"); ok {
		return blob.OpenFiles(named)
	}
	if file, ok := strings.CutPrefix(c.Store.URL, "sqlite:"); ok {
		folder = filepath.Join(filepath.Dir(file), folder)
	}
	return blob.OpenFiles(folder)
}

// bucket opens a bucket with the secrets of two names.
func (a *app) bucket(address, key, secret string) (blob.Backend, error) {
	o, err := blob.ParseS3(address)
	if err != nil {
		return nil, err
	}
	if o.Key, err = a.secretOf(key); err != nil {
		return nil, err
	}
	if o.Secret, err = a.secretOf(secret); err != nil {
		return nil, err
	}
	return blob.OpenS3(o)
}
