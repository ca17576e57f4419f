package alert

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"patra"
	"patra/internal/store"
)

// Receiver is somebody who is told, and the way to them.
type Receiver struct {
	patra.Receiver
	// Open makes the way. It is called for every round of messages, so that a new secret counts at once.
	Open func() (Sender, error)
}

// Sender sends a message. The answer is what came back, for people; it is bounded and holds no secret.
type Sender interface {
	Post(ctx context.Context, m Message) (answer string, err error)
}

// EvaluatorLoop looks for alerts every so often while it has the role, and tells receivers of them.
type EvaluatorLoop struct {
	Evaluator
	Receivers []Receiver
	Owner     string        // of this process, and of no other
	Every     time.Duration // between looks
	Keep      time.Duration // how long alerts that have ended are remembered
	Group     int           // more than so many messages at once are one
	Log       *slog.Logger
	Looked    func(store.AlertEvaluation) // may be nil
	Guard     func()                      // deferred by every goroutine, to catch what breaks it; nil: nobody does
}

const (
	sampleEvery = 10 * time.Minute // how often queues are counted for what is usual
	sendEvery   = 5 * time.Second  // how often it is seen whether something is to be sent
	atOnce      = 200              // notices in hand
	holdFor     = 2 * time.Minute  // for which nobody else tries a notice that is in hand; longer than sending may take
	giveUp      = 24 * time.Hour   // after which a notice is too old to be of use; while its alert fires there is a new one then
	grace       = 10 * time.Second // for writing down what was sent when the process is told to stop
)

// lease is for how long a process that gives no sign of life keeps the role.
func (w *EvaluatorLoop) lease() time.Duration { return max(3*w.Every, time.Minute) }

// Run watches until ctx ends. What goes wrong with one look is said, and the next look is taken all the same.
func (w *EvaluatorLoop) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		role, ok, err := w.AcquireLease(ctx)
		switch {
		case err != nil:
			w.logFailure(ctx, "the role of looking for alerts could not be taken", err)
			rest(ctx, w.Every)
		case !ok:
			rest(ctx, min(w.lease()/4, w.Every))
		default:
			w.Log.Info("alerts are looked for from here", "owner", w.Owner)
			w.term(ctx, role)
		}
	}
	return nil
}

func (w *EvaluatorLoop) guard() func() {
	if w.Guard == nil {
		return func() {}
	}
	return w.Guard
}

// logFailure says what went wrong, but for a store that is away: that is said once for all who notice.
func (w *EvaluatorLoop) logFailure(ctx context.Context, what string, err error, attrs ...any) {
	if ctx.Err() == nil && !errors.Is(err, patra.ErrUnavailable) {
		w.Log.With(attrs...).ErrorContext(ctx, "alerts are not seen to as they should be", "what", what, "reason", err.Error())
	}
}

// AcquireLease takes the role, if nobody has it.
func (w *EvaluatorLoop) AcquireLease(ctx context.Context) (patra.LeaderLease, bool, error) {
	if err := w.Store.EnsureAlertRole(ctx); err != nil {
		return patra.LeaderLease{}, false, err
	}
	return w.Store.AcquireLease(ctx, patra.AlertRole, w.Owner, w.lease())
}

// term looks and tells for as long as this process has the role.
func (w *EvaluatorLoop) term(ctx context.Context, role patra.LeaderLease) {
	inner, lost := context.WithCancel(ctx)
	group := &errgroup.Group{}
	news := make([]chan struct{}, len(w.Receivers))
	for i, r := range w.Receivers {
		news[i] = make(chan struct{}, 1)
		group.Go(func() error {
			defer w.guard()()
			w.serve(inner, role, r, news[i])
			return nil
		})
	}
	for inner.Err() == nil {
		v, err := w.EvaluateOnce(inner, role)
		switch {
		case errors.Is(err, patra.ErrLeaseLost):
			w.Log.Warn("another process looks for alerts now")
			lost()
		case err != nil:
			w.logFailure(inner, "alerts could not be looked for", err)
		}
		for _, c := range news {
			if v.Notices > 0 {
				select {
				case c <- struct{}{}:
				default: // it knows already
				}
			}
		}
		rest(inner, w.Every)
	}
	lost()
	_ = group.Wait()
	if ctx.Err() != nil { // told to stop: nobody has to wait for the lease
		after, done := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer done()
		if err := w.Store.ReleaseLease(after, role); err != nil {
			w.Log.Warn("the role of looking for alerts was not given back", "reason", err.Error())
		}
	}
}

// EvaluateOnce is one look: facts, rules, and what follows from them, under the fence of the role.
func (w *EvaluatorLoop) EvaluateOnce(ctx context.Context, role patra.LeaderLease) (store.AlertEvaluation, error) {
	looking, done := w.keeping(ctx, role)
	found, facts, err := w.Evaluate(looking)
	done()
	if lost := context.Cause(looking); errors.Is(lost, patra.ErrLeaseLost) {
		err = lost // and not that something was broken off
	}
	if err != nil {
		return store.AlertEvaluation{}, err
	}
	receivers := make([]patra.Receiver, len(w.Receivers))
	for i, r := range w.Receivers {
		receivers[i] = r.Receiver
	}
	v, err := w.Store.JudgeAlerts(ctx, role, facts.Now, found, receivers)
	if err != nil {
		return v, err
	}
	if w.Looked != nil {
		w.Looked(v)
	}
	if err := w.Store.SampleQueues(ctx, role, facts.Now, sampleEvery, facts.Queue); err != nil {
		return v, err
	}
	if w.Keep > 0 {
		_, err = w.Store.DeleteOldAlerts(ctx, role, facts.Now.Add(-w.Keep))
	}
	return v, err
}

// keeping keeps the role until done is called: with very many watermarks a look takes longer than the lease, and if somebody else began
// anew each time nobody would ever come to an end. The context ends when the role is lost.
func (w *EvaluatorLoop) keeping(ctx context.Context, role patra.LeaderLease) (inner context.Context, done func()) {
	inner, stop := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer w.guard()()
		defer close(ended)
		for rest(inner, w.lease()/3); inner.Err() == nil; rest(inner, w.lease()/3) {
			if err := w.Store.RenewLease(inner, role); errors.Is(err, patra.ErrLeaseLost) {
				stop(err)
			}
		}
	}()
	return inner, func() {
		stop(nil)
		<-ended
	}
}

// serve sends to one receiver until ctx ends: when there is news, and every so often what did not arrive before.
func (w *EvaluatorLoop) serve(ctx context.Context, role patra.LeaderLease, r Receiver, news <-chan struct{}) {
	tick := time.NewTicker(sendEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		if _, err := w.SendOnce(ctx, role, r); err != nil && !errors.Is(err, patra.ErrLeaseLost) {
			w.logFailure(ctx, "notices could not be taken or written down", err, "receiver", r.Name)
		}
		select {
		case <-ctx.Done():
		case <-news:
		case <-tick.C:
		}
	}
}

// SendOnce sends what a receiver is to get now, and tells how many messages arrived. More than a few are one message. After one
// that did not arrive the others of this round wait too.
func (w *EvaluatorLoop) SendOnce(ctx context.Context, role patra.LeaderLease, r Receiver) (arrived int, err error) {
	due, err := w.Store.ClaimNotifications(ctx, role, r.Name, atOnce, holdFor)
	if err != nil || len(due) == 0 {
		return 0, err
	}
	round := [][]store.PendingNotification{due}
	if len(due) <= w.Group {
		round = nil
		for _, d := range due {
			round = append(round, []store.PendingNotification{d})
		}
	}
	// What was sent is written down, also if the process is told to stop meanwhile.
	after := context.WithoutCancel(ctx)
	poster, failed := r.Open()
	for _, told := range round {
		ids, tries := make([]int64, len(told)), int64(0)
		for i, d := range told {
			ids[i], tries = d.ID, max(tries, d.Tries)
		}
		if failed == nil {
			_, failed = poster.Post(ctx, MessageOf(told))
		}
		if failed == nil {
			arrived++
			if err := w.Store.NotificationsSent(after, ids); err != nil {
				return arrived, err
			}
			continue
		}
		dropped, err := w.Store.NotificationsFailed(after, ids, pause(tries), giveUp, failed.Error())
		if err != nil {
			return arrived, err
		}
		w.Log.Warn("a notice did not arrive", "receiver", r.Name, "notices", len(ids), "given_up", dropped, "reason", failed.Error())
	}
	return arrived, nil
}

// pause is how long to wait after so many attempts in vain: twice as long each time, up to a quarter of an hour.
func pause(tries int64) time.Duration {
	return min(10*time.Second<<min(max(tries-1, 0), 10), 15*time.Minute)
}

// rest waits, unless ctx ends.
func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
