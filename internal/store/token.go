package store

import (
	"context"
	"database/sql"
	"fmt"

	"patra"
)

const tokenColumns = `id, name, rank_code, evidence, COALESCE(parent_id, 0), created_at, created_by, expires_at, revoked_at, last_used_at`

var (
	insertToken  = stmt{"insert_token", `INSERT INTO ing_token (name, secret_hash, rank_code, evidence, parent_id, created_at, created_by, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`}
	tokenBySum   = stmt{"token_by_hash", `SELECT ` + tokenColumns + ` FROM ing_token WHERE secret_hash = ?`}
	tokenByID    = stmt{"token_by_id", `SELECT ` + tokenColumns + ` FROM ing_token WHERE id = ?`}
	revokeToken  = stmt{"revoke_token", `UPDATE ing_token SET revoked_at = ? WHERE revoked_at IS NULL AND (id = ? OR parent_id = ?)`}
	tokenUsed    = stmt{"token_used", `UPDATE ing_token SET last_used_at = ? WHERE id = ? AND (last_used_at IS NULL OR last_used_at < ?)`}
	listTokens   = stmt{"list_tokens", `SELECT ` + tokenColumns + ` FROM ing_token WHERE parent_id IS NULL ORDER BY id DESC LIMIT 1000`}
	oldSessions  = stmt{"forget_sessions", `DELETE FROM ing_token WHERE parent_id IS NOT NULL AND expires_at < ?`}
	openSessions = stmt{"open_sessions", `SELECT COUNT(*) FROM ing_token WHERE parent_id = ? AND revoked_at IS NULL AND expires_at > ?`}
)

func scanToken(r *sql.Rows) (t patra.Token, err error) {
	err = r.Scan(&t.ID, &t.Name, &t.Rank, &t.Evidence, &t.Parent, &t.CreatedAt, &t.CreatedBy, &t.ExpiresAt, &t.RevokedAt, &t.LastUsedAt)
	return t, err
}

// CreateToken lets somebody in. Only the hash of the secret is written.
func (s *Store) CreateToken(ctx context.Context, now patra.Instant, t patra.Token, hash string) (patra.Token, error) {
	err := s.write(ctx, "give token", func(x *tx) error {
		if err := x.keepToken(now, &t, hash); err != nil {
			return err
		}
		return x.auditAction(patra.AuditToken, t.CreatedBy, fmt.Sprintf("token:%d", t.ID), "", map[string]any{"given": t.Name, "role": t.Rank, "evidence": t.Evidence, "expires_at": t.ExpiresAt})
	})
	return t, err
}

// mostSessions is how many sessions of one token may be open at once.
const mostSessions = 100

// OpenSession is a token of a token: a browser has it, it is good for a shorter time, and it ends with its parent. ok is
// false if there are too many.
func (s *Store) OpenSession(ctx context.Context, now patra.Instant, t patra.Token, hash string) (out patra.Token, ok bool, err error) {
	err = s.write(ctx, "open session", func(x *tx) error {
		out, ok = patra.Token{}, false
		if _, err := x.exec(oldSessions, now); err != nil {
			return err
		}
		var n int
		if _, err := x.one(openSessions, []any{t.Parent, now}, &n); err != nil || n >= mostSessions {
			return err
		}
		ok = true
		out = t
		if err := x.keepToken(now, &out, hash); err != nil {
			return err
		}
		return x.auditAction(patra.AuditToken, t.Name, fmt.Sprintf("token:%d", t.Parent), "", map[string]any{"signed_in": true, "session": out.ID, "expires_at": out.ExpiresAt})
	})
	return out, ok, err
}

func (t *tx) keepToken(now patra.Instant, k *patra.Token, hash string) (err error) {
	k.CreatedAt = now
	var parent any
	if k.Parent != 0 {
		parent = k.Parent
	}
	k.ID, err = t.insert(insertToken, k.Name, hash, k.Rank, k.Evidence, parent, now, k.CreatedBy, k.ExpiresAt)
	return err
}

// TokenOf finds a token by the hash of its secret.
func (s *Store) TokenOf(ctx context.Context, hash string) (t patra.Token, found bool, err error) {
	return s.token(ctx, tokenBySum, hash)
}

// TokenByID finds a token.
func (s *Store) TokenByID(ctx context.Context, id int64) (t patra.Token, found bool, err error) {
	return s.token(ctx, tokenByID, id)
}

func (s *Store) token(ctx context.Context, st stmt, key any) (t patra.Token, found bool, err error) {
	err = s.read(ctx).rows(st, func(r *sql.Rows) error {
		t, err = scanToken(r)
		found = true
		return err
	}, key)
	return t, found, err
}

// usedEvery is how exactly it is known when a token was last used: a write for every call would be too much.
const usedEvery = patra.Minute

// TouchToken notes that a token was used.
func (s *Store) TouchToken(ctx context.Context, now patra.Instant, id int64) error {
	return s.write(ctx, "token used", func(x *tx) error {
		_, err := x.exec(tokenUsed, now, id, now-usedEvery)
		return err
	})
}

// RevokeToken shuts somebody out, with all sessions.
func (s *Store) RevokeToken(ctx context.Context, now patra.Instant, id int64, by, reason string) (t patra.Token, err error) {
	err = s.write(ctx, "revoke token", func(x *tx) error {
		n, err := x.exec(revokeToken, now, id, id)
		if err != nil || n == 0 {
			return orNotFound(err)
		}
		return x.auditAction(patra.AuditToken, by, fmt.Sprintf("token:%d", id), reason, map[string]any{"revoked": true})
	})
	if err != nil {
		return t, err
	}
	t, _, err = s.TokenByID(ctx, id)
	return t, err
}

// EndSession ends one session, as whoever has it wishes.
func (s *Store) EndSession(ctx context.Context, now patra.Instant, id int64) error {
	return s.write(ctx, "end session", func(x *tx) error {
		_, err := x.exec(revokeToken, now, id, id)
		return err
	})
}

// Tokens are all tokens, newest first, without sessions.
func (s *Store) Tokens(ctx context.Context) ([]patra.Token, error) {
	all := []patra.Token{}
	err := s.read(ctx).rows(listTokens, func(r *sql.Rows) error {
		t, err := scanToken(r)
		all = append(all, t)
		return err
	})
	return all, err
}
