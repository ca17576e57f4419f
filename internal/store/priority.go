package store

import (
	"context"
	"fmt"

	"patra"
)

var (
	setPriority   = stmt{"set_priority", `UPDATE ing_task SET priority = ? WHERE status_code IN ('QUEUED', 'RUNNING') AND {where}`}
	planPriority  = stmt{"plan_priority", `UPDATE ing_plan SET priority = ? WHERE id = ?`}
	plansPriority = stmt{"plans_priority", `UPDATE ing_plan SET priority = ? WHERE status_code IN ('DRAFT', 'SLICING', 'PARTIAL') AND {where}`}
)

// Prioritise gives work another place in the queue; what is still to be planned of it gets the same. 1 is first.
func (s *Store) Prioritise(ctx context.Context, target patra.Target, priority int, actor string) (steered patra.ControlResult, err error) {
	if priority < 1 || priority > 9 {
		return steered, fmt.Errorf("priority %d: %w", priority, patra.ErrIllegalMove)
	}
	err = s.write(ctx, "prioritise", func(t *tx) error {
		steered = patra.ControlResult{}
		where, args, err := t.tasksOf(target)
		if err != nil {
			return err
		}
		args = append([]any{priority}, args...)
		if _, err := t.exec(setPriority.with(where), args...); err != nil {
			return err
		}
		switch {
		case target.Scope == patra.ScopePlan:
			_, err = t.exec(planPriority, args...)
		case target.IsScope(), target.Scope == patra.ScopeCursor:
			_, err = t.exec(plansPriority.with(where), args...)
		}
		if err != nil {
			return err
		}
		if err := t.countTasks(&steered, where, args[1:]); err != nil {
			return err
		}
		return t.auditAction(patra.AuditPriority, actor, target.String(), "", map[string]any{"priority": priority})
	})
	return steered, err
}
