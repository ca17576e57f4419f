package main

import (
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
func (a *app) evidence(c config.Config) (*evidence.Keeper, error) {
	if c.Evidence.URL == config.EvidenceNone {
		return nil, nil
	}
	place, err := a.evidencePlace(c)
	if err != nil {
		return nil, environment(fmt.Errorf("answers cannot be kept (evidence.url): %w", err))
	}
	return evidence.NewKeeper(place)
}

func (a *app) evidencePlace(c config.Config) (blob.Place, error) {
	if strings.HasPrefix(c.Evidence.URL, "s3:") {
		return a.bucket(c.Evidence.URL, c.Evidence.AccessKey, c.Evidence.SecretKey)
	}
	return blob.OpenFiles(evidenceFolder(c))
}

// evidenceFolder is the folder for answers.
func evidenceFolder(c config.Config) string {
	if folder, ok := strings.CutPrefix(c.Evidence.URL, "file:"); ok {
		return folder
	}
	file, ok := strings.CutPrefix(c.Store.URL, "sqlite:")
	if !ok {
		return besideStore
	}
	return filepath.Join(filepath.Dir(file), besideStore)
}

// bucket opens a bucket with the secrets of two names.
func (a *app) bucket(address, key, secret string) (blob.Place, error) {
	o, err := blob.ParseS3(address)
	if err != nil {
		return nil, err
	}
	a.credentials()
	for name, value := range map[string]*string{key: &o.Key, secret: &o.Secret} {
		text, set, err := a.vault.Secret(name)
		if err != nil {
			return nil, err
		}
		if !set {
			return nil, fmt.Errorf("the secret %s is not set: there is nothing at %s", name, a.vault.Where(name))
		}
		*value = text
	}
	return blob.OpenS3(o)
}
