package executor

import (
	"context"
	"errors"

	"patra"
	"patra/internal/source"
)

// Certify sends the requests of a certification, one after the other, the way of all others: through the gate, with a row of their
// own each. What a provider refuses is an answer; only one that cannot be asked at all ends it.
func (p *Prober) Certify(ctx context.Context, exam *source.Exam, baseURL string) error {
	t, err := p.target(exam.Spec, baseURL)
	if err != nil {
		return err
	}
	for ask, more := exam.Next(); more; ask, more = exam.Next() {
		answer, err := p.examine(ctx, t, exam, ask, baseURL)
		if err != nil {
			return err
		}
		exam.Add(answer)
		if fault := answer.Fault; fault != nil && len(exam.Answers) == 1 && !exam.Tells(fault) {
			return fault
		}
	}
	return nil
}

// examine sends one of them, and again where it failed on its way, as long as there are requests left.
func (p *Prober) examine(ctx context.Context, t *sourceClient, exam *source.Exam, ask source.ExamAsk, baseURL string) (source.ExamAnswer, error) {
	sized := *t
	if ask.Size > 0 {
		sized.program = t.program.Sized(ask.Size)
	}
	call, err := exam.Spec.BuildExam(ask, baseURL, p.Vars)
	if err != nil {
		return source.ExamAnswer{}, err
	}
	w, spec := p.wire(baseURL), exam.Spec
	for attempt := 1; ; attempt++ {
		answer := source.ExamAnswer{ExamAsk: ask}
		exam.Sent++
		err := p.ask(ctx, w, &sized, call, func(got response) error { return readExam(sized.program, got, &answer) })
		failed, ok := errors.AsType[*pageError](err)
		if !ok {
			return answer, err
		}
		if ctx.Err() != nil {
			return answer, context.Cause(ctx)
		}
		answer.Fault = failed.fault
		wait, err := w.retryDelay(ctx, spec, failed, attempt) // others are told to wait
		if err != nil {
			return answer, err
		}
		consumed := spec.Stateful() && failed.sent() // to ask again would leave out the page that was lost
		last := attempt >= probeAttempts || exam.Sent >= source.MaxExamRequests[exam.Form]
		if failed.fault.Level != patra.LevelRetry || last || consumed || !transient(failed.fault) {
			return answer, nil
		}
		if err := w.sleep(ctx, wait); err != nil {
			return answer, err
		}
	}
}

// transient reports whether a fault says nothing about the source: a list that leads back to itself does so each time, and so does an
// answer that is not understood or a token that has expired.
func transient(f *patra.Fault) bool {
	return f.Code != patra.CodeLoop && f.Code != patra.CodeSchema && f.Code != patra.CodeTokenExpired
}

// readExam reads an answer as far as a certification needs it. The rows count also where the way on is not understood.
func readExam(program *source.Program, got response, answer *source.ExamAnswer) error {
	page, err := program.ReadWithin(got.status, got.body, answer.Position, answer.Window)
	if err != nil {
		return err
	}
	answer.Total, answer.Next, answer.HasNext, answer.End = page.Total, page.Next, page.HasNext, page.End
	for o := range program.Records(&page, got.exchange.SentAt) {
		answer.Rows = append(answer.Rows, source.ExamRow{ID: o.ID, At: o.UpdatedAt})
	}
	return nil
}
