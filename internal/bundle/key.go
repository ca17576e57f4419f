package bundle

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
)

const pemType = "PRIVATE KEY"

// OpenKey reads the private key of a file; fs.ErrNotExist if there is none. A file that others can read is refused: what
// they sign with it would count as ours.
func OpenKey(path string) (ed25519.PrivateKey, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read by others: chmod 600 %s, or delete it, and tell those who trust the old key", path, path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil || block.Type != pemType {
		return nil, fmt.Errorf("%s holds no private key", path)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := parsed.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, fmt.Errorf("%s holds no Ed25519 key", path)
	}
	return key, nil
}

// EnsureKey reads the private key of a file, and makes it the first time.
func EnsureKey(path string) (key ed25519.PrivateKey, made bool, err error) {
	key, err = OpenKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, false, err
	}
	_, key, err = ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, false, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, false, err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) { // somebody else was faster
		key, err = OpenKey(path)
		return key, false, err
	}
	if err != nil {
		return nil, false, err
	}
	err = errors.Join(pem.Encode(file, &pem.Block{Type: pemType, Bytes: der}), file.Sync(), file.Close())
	return key, true, err
}
