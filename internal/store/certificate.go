package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"patra"
)

var (
	insertCertificate = stmt{"insert_certificate", `INSERT INTO reg_prov_certificate (provenance_code, endpoint_name, scope_hash, claims_hash, form_code, certified_at, requests, verdict_code,
		certified_by, card, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`}
	certificatesOf = stmt{"certificates_of", `SELECT id, card FROM reg_prov_certificate WHERE provenance_code = ? AND endpoint_name = ? AND scope_hash = ? AND claims_hash = ?
		ORDER BY id DESC LIMIT 20`}
	listCertificates = stmt{"list_certificates", `SELECT id, card FROM reg_prov_certificate WHERE provenance_code = ? AND (? = '' OR endpoint_name = ?) ORDER BY id DESC LIMIT ?`}
)

// KeepCertificate stores a card. That a person had a provider examined stands in the audit log too; a short form is no act of a person.
func (s *Store) KeepCertificate(ctx context.Context, now patra.Instant, c patra.Certificate) (id int64, err error) {
	card, err := json.Marshal(c)
	if err != nil {
		return 0, fmt.Errorf("keep certificate: %w", err)
	}
	err = s.write(ctx, "keep certificate", func(t *tx) error {
		id, err = t.insert(insertCertificate, c.Source, c.Endpoint, c.Hash(), c.ClaimsHash, c.Form, c.At, int64(c.Requests), c.Verdict, c.By, string(card), now)
		if err != nil || c.Form != patra.CertificateFull {
			return err
		}
		return t.auditAction(patra.AuditCertify, c.By, "source:"+c.Source, "", map[string]any{"certificate": id, "endpoint": c.Endpoint, "address": c.Address, "params": c.Params,
			"form": c.Form, "requests": c.Requests, "verdict": c.Verdict})
	})
	return id, err
}

// CertificatesFor are the cards that were made for some claims, newest first.
func (s *Store) CertificatesFor(ctx context.Context, scope patra.CertificateScope) ([]patra.Certificate, error) {
	return s.read(ctx).certificates(certificatesOf, scope.Source, scope.Endpoint, scope.Hash(), scope.ClaimsHash)
}

// Certificates are the cards of a source, newest first; of one endpoint where one is named.
func (s *Store) Certificates(ctx context.Context, source, endpoint string, limit int) ([]patra.Certificate, error) {
	return s.read(ctx).certificates(listCertificates, source, endpoint, endpoint, limit)
}

func (t *tx) certificates(st stmt, args ...any) (all []patra.Certificate, err error) {
	err = t.rows(st, func(r *sql.Rows) error {
		var id int64
		var card []byte
		if err := r.Scan(&id, &card); err != nil {
			return err
		}
		var c patra.Certificate
		if err := json.Unmarshal(card, &c); err != nil {
			return fmt.Errorf("certificate %d: %w", id, err)
		}
		c.ID = id
		all = append(all, c)
		return nil
	}, args...)
	return all, err
}
