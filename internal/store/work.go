package store

import (
	"context"

	"patra"
)

var (
	moving = stmt{"moving_tasks", `SELECT COUNT(*), COUNT(CASE WHEN status_code = 'QUEUED' AND COALESCE(wait_code, '') = 'PAUSED' AND scheduled_at = ? THEN 1 END) FROM ing_task
		WHERE status_code IN ('QUEUED', 'RUNNING') AND {where}`}
	lastClaim = stmt{"last_claim", `SELECT started_at FROM ing_task_run ORDER BY id DESC LIMIT 1`}
	queueHead = stmt{"queue_head", `SELECT COUNT(*) FROM ing_task WHERE status_code = 'QUEUED' AND partition_key = ? AND priority <= ? AND scheduled_at <= {now} AND id <> ?`}
)

// TaskCounts counts what waits and what runs of a target. It fails with patra.ErrNotFound for a piece of work that does not
// exist.
func (s *Store) TaskCounts(ctx context.Context, target patra.Target) (steered patra.ControlResult, err error) {
	t := s.read(ctx)
	where, args, err := t.tasksOf(target)
	if err == nil {
		err = t.countTasks(&steered, where, args)
	}
	return steered, err
}

// ActiveTasks counts the tasks of a target that run, or will without anybody's help, and those that somebody holds back, both at the same
// moment.
func (s *Store) ActiveTasks(ctx context.Context, target patra.Target) (n, held int64, err error) {
	t := s.read(ctx)
	where, args, err := t.tasksOf(target)
	if err == nil {
		_, err = t.one(moving.with(where), append([]any{int64(farAway)}, args...), &n, &held)
	}
	return n - held, held, err
}

// LastClaim is when any worker last took a task; nil if none ever did.
func (s *Store) LastClaim(ctx context.Context) (*patra.Instant, error) {
	var at patra.Instant
	found, err := s.read(ctx).one(lastClaim, nil, &at)
	if err != nil || !found {
		return nil, err
	}
	return &at, nil
}

// QueuePosition counts, for one task, how many tasks of its partition run and how many go before it.
func (s *Store) QueuePosition(ctx context.Context, task patra.Task) (running, before int64, err error) {
	t, partition := s.read(ctx), task.WorkScope().Partition()
	if _, err := t.one(runningIn, []any{partition}, &running); err != nil {
		return 0, 0, err
	}
	_, err = t.one(queueHead, []any{partition, task.Priority, task.ID}, &before)
	return running, before, err
}
