package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"patra"
)

var (
	takeRole = stmt{"take_role", `UPDATE ing_lease SET lease_owner = ?, lease_count = lease_count + 1, leased_until = {now} + ?
		WHERE name = ? AND (lease_owner IS NULL OR leased_until < {now})`}
	roleOf    = stmt{"role_of", `SELECT lease_count, position FROM ing_lease WHERE name = ? AND lease_owner = ?`}
	keepRole  = stmt{"keep_role", `UPDATE ing_lease SET leased_until = {now} + ? WHERE name = ? AND lease_owner = ? AND lease_count = ?`}
	leaveRole = stmt{"leave_role", `UPDATE ing_lease SET lease_owner = NULL, leased_until = 0 WHERE name = ? AND lease_owner = ? AND lease_count = ?`}
	moveRole  = stmt{"move_role", `UPDATE ing_lease SET position = ?, notes = ?, leased_until = {now} + ? WHERE name = ? AND lease_owner = ? AND lease_count = ?`}
	seizeRole = stmt{"seize_role", `UPDATE ing_lease SET position = ?, lease_owner = NULL, lease_count = lease_count + 1, leased_until = 0 WHERE name = ?`}
)

// EnsureSink makes the row of a sink that is seen for the first time: it gets everything that is in the store, or what
// happens from now on. One that is known keeps its position.
func (s *Store) EnsureSink(ctx context.Context, sink string, fromNow bool) error {
	var position int64
	var raw json.RawMessage
	found, err := s.read(ctx).one(selectRole, []any{patra.RelayLease(sink)}, &position, jsonInto{&raw})
	if err != nil || found {
		return err
	}
	gone, err := s.Purged(ctx)
	if err != nil {
		return err
	}
	position = gone.Last // the first that is there is the next one
	if fromNow {
		for n := 1; n > 0 && err == nil; { // "now" is a number, so what is there must have one
			n, position, err = s.AssignSequence(ctx)
		}
		if err != nil {
			return err
		}
	}
	return s.ensureRole(ctx, patra.RelayLease(sink), position, nil)
}

// AcquireLease takes a role that nobody has, or whose lease has run out. ok tells whether it could be had.
func (s *Store) AcquireLease(ctx context.Context, name, owner string, lease time.Duration) (role patra.LeaderLease, ok bool, err error) {
	err = s.write(ctx, "take role", func(t *tx) error {
		role, ok = patra.LeaderLease{Name: name, Owner: owner, For: lease}, false
		n, err := t.exec(takeRole, owner, lease.Microseconds(), name)
		if err != nil || n != 1 {
			return err
		}
		ok, err = t.one(roleOf, []any{name, owner}, &role.Fence, &role.Position)
		return err
	}, func(t *tx) (bool, error) {
		var fence, position int64
		found, err := t.one(roleOf, []any{name, owner}, &fence, &position)
		return found && ok && fence == role.Fence, err
	})
	return role, ok, err
}

// RenewLease renews a lease. It fails with patra.ErrLeaseLost when somebody else has the role.
func (s *Store) RenewLease(ctx context.Context, r patra.LeaderLease) error {
	return s.write(ctx, "keep role", func(t *tx) error {
		return requireLease(t.exec(keepRole, r.For.Microseconds(), r.Name, r.Owner, r.Fence))
	})
}

// ReleaseLease gives a role back, so that nobody has to wait for the lease to run out.
func (s *Store) ReleaseLease(ctx context.Context, r patra.LeaderLease) error {
	return s.write(ctx, "leave role", func(t *tx) error {
		_, err := t.exec(leaveRole, r.Name, r.Owner, r.Fence)
		return err
	})
}

// ErrPurged means that events are wanted that are not there any more.
var ErrPurged = errors.New("the events are not there any more")

// Rewind sets the position of a sink, so that it gets events again; the audit log has who wanted it. Whoever sends to it loses the role at that moment and
// takes it up anew from there. Events that wait or were set aside behind the position are forgotten: they come again.
func (s *Store) Rewind(ctx context.Context, sink string, to int64, by, reason string) (from int64, err error) {
	err = s.write(ctx, "rewind", func(t *tx) error {
		var raw json.RawMessage
		found, err := t.one(lockRole, []any{patra.RelayLease(sink)}, &from, jsonInto{&raw})
		if err != nil {
			return err
		}
		if !found {
			return patra.ErrNotFound
		}
		gone, err := t.purged(lockRole)
		if err != nil {
			return err
		}
		if to < gone.Last {
			return fmt.Errorf("event %d is the first that is left: %w", gone.Last+1, ErrPurged)
		}
		if to > from {
			return fmt.Errorf("the sink has not come that far: %w", patra.ErrIllegalMove)
		}
		if _, err := t.exec(forgetDeliveries, sink, to); err != nil {
			return err
		}
		if _, err := t.exec(seizeRole, to, patra.RelayLease(sink)); err != nil {
			return err
		}
		return t.auditAction(patra.AuditRewind, by, sink, reason, map[string]any{"from": from, "to": to})
	})
	return from, err
}
