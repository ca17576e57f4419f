// Package bundle packs evidence for somebody else: one zip file with a signed list of all that is in it.
//
// The signature is Ed25519 over the list, and the list has the hash of every file, so nothing can be added, taken out or
// changed. A bundle may come from anybody: whoever checks one believes no name, no number and no size in it before it was
// counted. The package knows nothing of pages and tables, opens no store and sends nothing.
package bundle

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"patra"
)

// Manifest is the signed list.
type Manifest struct {
	V         int           `json:"v"`
	Subject   string        `json:"subject"` // what it is about, such as run:7
	By        string        `json:"by"`
	At        patra.Instant `json:"at"`
	Reason    string        `json:"reason"`
	ExpiresAt patra.Instant `json:"expires_at"`
	Missing   []string      `json:"missing,omitempty"` // bodies that belong to it and could not be had
	Files     []File        `json:"files"`
	Key       string        `json:"public_key"`
	Signature string        `json:"signature,omitempty"` // over the canonical JSON of all the rest
}

// File is one file of a bundle.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// manifestVersion is the shape of the list.
const manifestVersion = 1

// ManifestName is the file that holds the list.
const ManifestName = "manifest.json"

// names are all that a bundle may hold. A name that is not written like this is refused, whatever it would do.
var names = regexp.MustCompile(`^(manifest\.json|report\.html|snapshot\.json|slice\.json|batches\.jsonl|cursor_events\.jsonl|bodies/[0-9a-f]{64})$`)

func (m Manifest) signed() ([]byte, error) {
	m.Signature = ""
	return patra.Canonical(m)
}

// sign puts a signature under the list.
func (m *Manifest) sign(key ed25519.PrivateKey) error {
	m.V, m.Key = manifestVersion, FormatKey(key.Public().(ed25519.PublicKey))
	text, err := m.signed()
	m.Signature = base64.StdEncoding.EncodeToString(ed25519.Sign(key, text))
	return err
}

// bytes are the list as its file has it.
func (m Manifest) bytes() ([]byte, error) {
	data, err := json.MarshalIndent(m, "", "  ")
	return append(data, '\n'), err
}

// exact sees that the file of the list is the list, to the last byte: the signature is over what the list says, and would
// also hold for one that is written otherwise.
func (m Manifest) exact(data []byte) error {
	want, err := m.bytes()
	if err != nil || !bytes.Equal(data, want) {
		return fmt.Errorf("%w: %s is not written as it was signed", ErrChanged, ManifestName)
	}
	return nil
}

// Why a bundle is not to be believed.
var (
	ErrHostile = errors.New("this is not a bundle")
	ErrForged  = errors.New("the signature is wrong")
	ErrUnknown = errors.New("it is signed by somebody else")
	ErrChanged = errors.New("a file is not what was signed")
	ErrExpired = errors.New("it has expired")
	errBadKey  = errors.New("a key is written ed25519: and 44 letters")
)

const (
	keyPrefix    = "ed25519:"
	clockMayDiff = 5 * time.Minute
)

// check believes a list, or says why not. Anybody can sign a list with a key of his own: trusted says whose counts.
func (m Manifest) check(trusted []ed25519.PublicKey, now patra.Instant) error {
	if m.V != manifestVersion {
		return fmt.Errorf("%w: version %d of its list is not known to this program", ErrHostile, m.V)
	}
	key, err := ParseKey(m.Key)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrHostile, err)
	}
	text, err := m.signed()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrHostile, err)
	}
	signature, err := base64.StdEncoding.DecodeString(m.Signature)
	if err != nil || !ed25519.Verify(key, text, signature) {
		return ErrForged
	}
	known := false
	for _, t := range trusted {
		known = known || t.Equal(key)
	}
	switch {
	case !known:
		return fmt.Errorf("%w: %s", ErrUnknown, m.Key)
	case m.ExpiresAt <= now:
		return fmt.Errorf("%w: it was to be used until %s", ErrExpired, m.ExpiresAt)
	case m.At > now.Add(clockMayDiff):
		return fmt.Errorf("%w: it says that it was made at %s, which is to come", ErrHostile, m.At)
	}
	return nil
}

// FormatKey writes a public key for people.
func FormatKey(key ed25519.PublicKey) string {
	return keyPrefix + base64.StdEncoding.EncodeToString(key)
}

// ParseKey reads one.
func ParseKey(text string) (ed25519.PublicKey, error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), keyPrefix)
	key, err := base64.StdEncoding.DecodeString(rest)
	if !ok || err != nil || len(key) != ed25519.PublicKeySize {
		return nil, errBadKey
	}
	return key, nil
}

// readManifest reads a list strictly: one that says something that nobody knows is refused.
func readManifest(data []byte) (m Manifest, err error) {
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("%w: its list cannot be read", ErrHostile)
	}
	canonical, err := patra.Canonical(m)
	again, errAgain := patra.Canonical(json.RawMessage(data))
	if err != nil || errAgain != nil || string(canonical) != string(again) {
		return m, fmt.Errorf("%w: its list says more than a list does", ErrHostile)
	}
	return m, nil
}
