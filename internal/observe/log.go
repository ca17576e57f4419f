package observe

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strconv"

	"go.opentelemetry.io/otel/trace"
)

// LogOptions set what is logged and how.
type LogOptions struct {
	Level   slog.Level
	JSON    bool     // one JSON object a line; else text for people
	Secrets *Secrets // what no line may show; nil: only what looks like a secret is hidden
}

// NewLog is a logger whose lines show nothing that nobody may see, whoever wrote them: messages, keys, values, groups,
// errors, and values that say themselves how they are logged all go through the same place, which is the last one before
// the writer. A line is always one line. What is logged in a span says so.
func NewLog(w io.Writer, o LogOptions) *slog.Logger {
	options := &slog.HandlerOptions{Level: o.Level}
	out := lineRedactor{w, o.Secrets}
	var inner slog.Handler = slog.NewTextHandler(out, options)
	if o.JSON {
		inner = slog.NewJSONHandler(out, options)
	}
	return slog.New(&redactingHandler{inner: inner, secrets: o.Secrets, json: o.JSON})
}

// redactingHandler hides what nobody may see, and leaves the writing to another handler.
type redactingHandler struct {
	inner   slog.Handler
	secrets *Secrets
	json    bool
}

// Enabled reports whether lines of a level are written.
func (h *redactingHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.inner.Enabled(ctx, level)
}

// Handle writes a line.
func (h *redactingHandler) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time.UTC(), r.Level, h.text(r.Message), r.PC)
	if in := trace.SpanContextFromContext(ctx); in.IsSampled() {
		out.AddAttrs(slog.String("trace_id", in.TraceID().String()), slog.String("span_id", in.SpanID().String()))
	}
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(h.attr(a, 0))
		return true
	})
	return h.inner.Handle(ctx, out)
}

// WithAttrs is a handler whose lines have some attributes.
func (h *redactingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &redactingHandler{h.inner.WithAttrs(h.attrs(attrs, 0)), h.secrets, h.json}
}

// WithGroup is a handler whose lines have their attributes under a name.
func (h *redactingHandler) WithGroup(name string) slog.Handler {
	return &redactingHandler{h.inner.WithGroup(h.text(name)), h.secrets, h.json}
}

// mostText and deepest bound what a value may be: one that is longer, or that holds itself, tells nobody anything.
const (
	mostText = 16 << 10
	deepest  = 16
)

func (h *redactingHandler) text(s string) string {
	s = h.secrets.Redact(s)
	if len(s) > mostText {
		s = s[:mostText] + " (and more)"
	}
	return s
}

func (h *redactingHandler) attrs(all []slog.Attr, depth int) []slog.Attr {
	out := make([]slog.Attr, len(all))
	for i, a := range all {
		out[i] = h.attr(a, depth)
	}
	return out
}

func (h *redactingHandler) attr(a slog.Attr, depth int) slog.Attr {
	if a.Equal(slog.Attr{}) { // which handlers leave out
		return a
	}
	if tellingKey.MatchString(a.Key) {
		return slog.String(h.text(a.Key), mask)
	}
	return slog.Attr{Key: h.text(a.Key), Value: h.value(a.Value, depth)}
}

func (h *redactingHandler) value(v slog.Value, depth int) (out slog.Value) {
	defer func() {
		if broken := recover(); broken != nil { // of a value that cannot say what it is
			out = slog.StringValue(h.text(fmt.Sprint("!PANIC: ", broken)))
		}
	}()
	if depth > deepest {
		return slog.StringValue("(and more)")
	}
	switch v = v.Resolve(); v.Kind() {
	case slog.KindGroup:
		return slog.GroupValue(h.attrs(v.Group(), depth+1)...)
	case slog.KindString:
		return slog.StringValue(h.text(v.String()))
	case slog.KindInt64, slog.KindUint64, slog.KindFloat64: // some passwords are numbers
		if text := v.String(); h.secrets.redactKnown(text) != text {
			return slog.StringValue(mask)
		}
		return v
	case slog.KindDuration:
		// In JSON it is a number too, of nanoseconds. Taken out of the finished line, a part of it would leave no JSON.
		if text := strconv.FormatInt(int64(v.Duration()), 10); h.json && h.secrets.redactKnown(text) != text {
			return slog.StringValue(mask)
		}
	case slog.KindAny:
		return h.any(v.Any())
	}
	return v
}

// any turns whatever it is into what others may see of it.
func (h *redactingHandler) any(x any) slog.Value {
	switch x := x.(type) {
	case nil:
		return slog.AnyValue(nil)
	case error:
		return slog.StringValue(h.text(x.Error()))
	case json.RawMessage: // before bytes, which it is too
	case []byte:
		return slog.StringValue(h.text(string(x)))
	case fmt.Stringer:
		return slog.StringValue(h.text(x.String()))
	}
	b, err := json.Marshal(x)
	if err != nil {
		return slog.StringValue(h.text(fmt.Sprintf("%+v", x)))
	}
	if text := h.text(string(b)); text != string(b) || !h.json {
		return slog.StringValue(text)
	}
	return slog.AnyValue(json.RawMessage(b))
}

// lineRedactor takes known secrets out of finished lines. It finds what was not known yet when an attribute was made.
type lineRedactor struct {
	w       io.Writer
	secrets *Secrets
}

// Write writes a line.
func (l lineRedactor) Write(line []byte) (int, error) {
	_, long := l.secrets.look()
	if _, err := io.WriteString(l.w, long.Text(string(line))); err != nil {
		return 0, err
	}
	return len(line), nil
}
