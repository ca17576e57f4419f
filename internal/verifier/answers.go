package verifier

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
)

// largestBody is the most that is unpacked.
const largestBody = 1 << 30

var unpacker, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(largestBody))

// unpacked is what a file holds, nothing if it is none of ours.
func unpacked(data []byte) []byte {
	body, err := unpacker.DecodeAll(data, nil)
	if err != nil {
		return nil
	}
	return body
}

func askAnswers(ctx context.Context, s *Scene, v *Invariant) error {
	if s.Evidence == "" && s.seen == nil {
		return v.skip("neither the folder of kept answers (-evidence) nor a log of the provider was given")
	}
	if s.Evidence != "" {
		if err := s.keptAnswers(ctx, v); err != nil {
			return err
		}
	}
	if s.seen == nil {
		return nil
	}
	return s.sentAnswers(ctx, v)
}

// keptAnswers reads every kept body and compares it with its hash.
func (s *Scene) keptAnswers(ctx context.Context, v *Invariant) error {
	err := s.each(ctx, `SELECT body_sha256, stored_sha256, redacted, location FROM ing_evidence`, func(r *sql.Rows) error {
		var body, kept, location string
		var redacted bool
		if err := r.Scan(&body, &kept, &redacted, &location); err != nil {
			return err
		}
		v.Looked++
		data, err := os.ReadFile(filepath.Join(s.Evidence, filepath.FromSlash(location)))
		if err != nil {
			v.found("answer %.8s is not there: %v", body, err)
			return nil
		}
		sum := sha256.Sum256(unpacked(data))
		switch is := hex.EncodeToString(sum[:]); {
		case is != kept:
			v.found("answer %.8s is not what was kept", body)
		case !redacted && body != kept:
			v.found("answer %.8s was changed before it was kept, and nobody says so", body)
		}
		return nil
	})
	if err != nil || s.Now == 0 {
		return err
	}
	return s.each(ctx, `SELECT b.id FROM ing_task_run_batch b WHERE b.status_code = 'SUCCEEDED' AND b.kept = 1 AND b.committed_at > ?
		AND NOT EXISTS (SELECT 1 FROM ing_evidence e WHERE e.body_sha256 = b.body_sha256)`, func(r *sql.Rows) error {
		var id int64
		err := r.Scan(&id)
		v.found("the answer of page %d was kept, and is not", id)
		return err
	}, int64(s.Now)-s.Keep.Microseconds())
}

// sentAnswers compares the hash of every page with what the provider says it sent. A page may have been asked for more than
// once: one of the answers is the one that was read.
func (s *Scene) sentAnswers(ctx context.Context, v *Invariant) error {
	page, right, asked := int64(0), false, false
	judge := func() {
		if page != 0 && asked && !right {
			v.found("page %d is not what the provider says it sent", page)
		}
	}
	err := s.each(ctx, `SELECT b.id, b.body_sha256, q.request_id FROM ing_task_run_batch b JOIN ing_request q ON q.batch_id = b.id
		WHERE b.status_code = 'SUCCEEDED' AND b.body_sha256 IS NOT NULL AND q.http_status IS NOT NULL ORDER BY b.id`, func(r *sql.Rows) error {
		var id int64
		var body, request string
		if err := r.Scan(&id, &body, &request); err != nil {
			return err
		}
		if id != page {
			judge()
			page, right, asked = id, false, false
			v.Looked++
		}
		sum, err := hex.DecodeString(body)
		if err != nil || len(sum) != sha256.Size {
			return nil // whoever has no hash is found as one that does not fit
		}
		for _, i := range s.seen.byID[request] {
			e := s.seen.requests[i]
			asked = true
			right = right || !e.cut && e.body == mark(sum[:16])
		}
		return nil
	})
	judge()
	return err
}
