package patra

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// TokenRole is what somebody may do over HTTP. Each may do what the one before it may.
type TokenRole string

// The ranks.
const (
	Viewer   TokenRole = "viewer"   // look
	Operator TokenRole = "operator" // steer work
	Admin    TokenRole = "admin"    // give and take tokens, send sinks back
)

// Ranks are all of them, lowest first.
var Ranks = []TokenRole{Viewer, Operator, Admin}

// Includes reports whether r may do what other may. A rank that does not exist includes nothing.
func (r TokenRole) Includes(other TokenRole) bool {
	mine, its := slices.Index(Ranks, r), slices.Index(Ranks, other)
	return mine >= 0 && its >= 0 && mine >= its
}

// Token is the right of somebody to call, for a time. The secret itself is kept by nobody but whoever was given it.
type Token struct {
	ID         int64     `json:"id"`
	Name       string    `json:"name"`
	Rank       TokenRole `json:"role"`
	Evidence   bool      `json:"evidence"` // may also see what providers answered
	Parent     int64     `json:"parent,omitempty"`
	CreatedAt  Instant   `json:"created_at"`
	CreatedBy  string    `json:"created_by"`
	ExpiresAt  Instant   `json:"expires_at"`
	RevokedAt  *Instant  `json:"revoked_at,omitempty"`
	LastUsedAt *Instant  `json:"last_used_at,omitempty"`
}

// Valid reports whether a token is in force.
func (t Token) Valid(now Instant) bool { return t.RevokedAt == nil && now < t.ExpiresAt }

// tokenPrefix makes a secret recognisable to people and to scanners of leaks.
const tokenPrefix = "patra_"

// NewTokenSecret draws a secret of a token. It has at least 128 random bits.
func NewTokenSecret() string { return tokenPrefix + rand.Text() }

// TokenHash is what is stored of a secret: one cannot go back from it, because a secret is drawn and not chosen.
func TokenHash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// LooksLikeToken reports whether a text can be the secret of a token at all.
func LooksLikeToken(secret string) bool {
	return strings.HasPrefix(secret, tokenPrefix) && len(secret) == len(tokenPrefix)+26
}
