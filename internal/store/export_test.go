package store

import (
	"context"
	"errors"

	"patra"
)

// AdoptRepositories runs the migration of that name once more.
func (s *Store) AdoptRepositories(ctx context.Context) error {
	t, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer t.Rollback()
	if err := adoptRepositories(ctx, t); err != nil {
		return err
	}
	return t.Commit()
}

// ReadTwice reads a task as whoever takes it does, and as whoever finds that it was another when the reading began. It takes nothing.
func (s *Store) ReadTwice(ctx context.Context, taskID int64) (peeked, reread patra.Claim, err error) {
	over := errors.New("that was all")
	err = s.write(ctx, "read twice", func(t *tx) error {
		p := &pickedTask{asker: &claimWaiter{}, candidate: candidate{id: taskID}}
		for st, into := range map[*stmt]*patra.Claim{&peekTasks: &peeked, &rereadTasks: &reread} {
			all, torn, err := t.claimRows(*st, []*pickedTask{p}, map[int64]*pickedTask{taskID: p})
			if err != nil || len(all) != 1 || len(torn) != 0 {
				return errors.Join(err, errors.New("not one whole row"))
			}
			*into = *p.taken
		}
		return over
	})
	if errors.Is(err, over) {
		err = nil
	}
	return peeked, reread, err
}
