package cli

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"patra"
	"patra/internal/alert"
	"patra/internal/api"
	"patra/internal/config"
	"patra/internal/store"
)

// alertEvaluator is how this process looks for alerts.
func (a *app) alertEvaluator(cfg config.Config, s *store.Store) alert.Evaluator {
	told := []string{}
	for _, n := range cfg.Alerts.Notify {
		told = append(told, n.Name)
	}
	return alert.Evaluator{Store: s, Rules: cfg.Alerts.Patra(), Told: told, Fires: func(name string, before patra.Instant) (patra.Instant, bool) {
		for _, c := range cfg.Schedules {
			if c.Name == name && !c.Paused {
				return c.Cron.Last(before)
			}
		}
		return 0, false
	}}
}

// alerting is what the API needs to know of that.
func (a *app) alerting(cfg config.Config, s *store.Store) api.AlertOptions {
	every := time.Duration(cfg.Alerts.Every)
	if every == 0 {
		every = -1 // nobody should look
	}
	return api.AlertOptions{Sight: a.alertEvaluator(cfg, s), Every: every}
}

// watchAlerts looks for alerts until ctx ends, if somebody should.
func (a *app) watchAlerts(ctx context.Context, group *errgroup.Group, cfg config.Config, s *store.Store) {
	if cfg.Alerts.Every > 0 {
		w := a.watch(cfg, s)
		group.Go(func() error {
			defer a.recoverPanic()()
			return w.Run(ctx)
		})
	}
}

func (a *app) watch(cfg config.Config, s *store.Store) *alert.EvaluatorLoop {
	a.credentials()
	w := &alert.EvaluatorLoop{Evaluator: a.alertEvaluator(cfg, s), Owner: store.NewOwner(), Every: time.Duration(cfg.Alerts.Every), Keep: time.Duration(cfg.Alerts.Keep), Group: cfg.Alerts.Group, Log: a.logger(cfg), Guard: a.recoverPanic()}
	for _, n := range cfg.Alerts.Notify {
		w.Receivers = append(w.Receivers, alert.Receiver{Receiver: n.Receiver(), Open: func() (alert.Sender, error) { return a.hook(n) }})
	}
	return w
}

// hook is the way to a receiver. Its secrets are read each time, so that a new one counts with the next message.
func (a *app) hook(n config.Notify) (*alert.Webhook, error) {
	o := alert.WebhookOptions{URL: n.URL, Template: n.Template, KeyID: n.KeyID, Local: n.Local}
	var err error
	if name := n.URLSecret(); name != "" {
		if o.URL, err = a.secretOf(name); err != nil {
			return nil, err
		}
	}
	if n.Secret != "" {
		if o.Secret, err = a.secretOf(n.Secret); err != nil {
			return nil, err
		}
	}
	return alert.OpenHook(o)
}
