package patra

// Scope is what a cursor's namespace is bound to.
type Scope string

// The scopes.
const (
	ScopeExpr   Scope = "EXPR"   // one query: another query never shares its watermark
	ScopeCustom Scope = "CUSTOM" // one campaign of one query
	ScopeGlobal Scope = "GLOBAL" // all known records of a source
)

// Direction is which way a cursor's work goes: a harvest's with time, a backfill's through what is past.
type Direction string

// The directions.
const (
	Forward  Direction = "FORWARD"
	Backward Direction = "BACKFILL"
)

// DefaultCampaign is the campaign of whoever names none, so that a later plan goes on with it.
const DefaultCampaign = "main"

// RefreshKey is the cursor key of updates by time: when known records were last looked at.
const RefreshKey = "refresh_checked_at"

// Why a cursor event is written.
const (
	CauseAdvance = "ADVANCE" // the coverage reaches further than the watermark did
	CauseRewind  = "REWIND"  // a person moved the watermark back
)

// Namespace is the identity of a cursor. The endpoint is part of it, so that two endpoints of one source never
// pass over each other's gaps.
type Namespace struct {
	Source    string    `json:"source"`
	Endpoint  string    `json:"endpoint"`
	Operation Operation `json:"operation"`
	Key       string    `json:"cursor_key"` // the date field that windows filter on
	Scope     Scope     `json:"scope"`
	ScopeKey  string    `json:"namespace_key"`
}

// HarvestNamespace is the namespace of forward harvests of one query. Where a source has parameters, such as the address
// of a repository, they are part of the question: another repository has another watermark.
func HarvestNamespace(source, endpoint, field, exprProtoHash string, params map[string]string) Namespace {
	return Namespace{Source: source, Endpoint: endpoint, Operation: Harvest, Key: field, Scope: ScopeExpr, ScopeKey: question(exprProtoHash, params)}
}

// BackfillNamespace is the namespace of a campaign through history. It is never that of a harvest, so nothing that a
// campaign does can move the harvest's watermark.
func BackfillNamespace(source, endpoint, field, exprProtoHash, campaign string, params map[string]string) Namespace {
	return Namespace{Source: source, Endpoint: endpoint, Operation: Backfill, Key: field, Scope: ScopeCustom,
		ScopeKey: Hash([]any{question(exprProtoHash, params), campaign})}
}

// UpdateNamespace is the namespace of updates by time.
func UpdateNamespace(source, endpoint, exprProtoHash, campaign string, params map[string]string) Namespace {
	return Namespace{Source: source, Endpoint: endpoint, Operation: Update, Key: RefreshKey, Scope: ScopeCustom,
		ScopeKey: Hash([]any{question(exprProtoHash, params), campaign})}
}

func question(exprProtoHash string, params map[string]string) string {
	if len(params) == 0 {
		return exprProtoHash
	}
	return Hash([]any{exprProtoHash, params})
}

// everything is the hash of the query that leaves nothing out.
var everything = Hash(map[string]any{"op": "CONST", "value": true})

// AsksForAll reports whether a harvest is one without a query and without parameters.
func (n Namespace) AsksForAll() bool { return n.Operation == Harvest && n.ScopeKey == everything }

// Direction is which way the work of the namespace goes.
func (n Namespace) Direction() Direction {
	if n.Operation == Backfill {
		return Backward
	}
	return Forward
}

// Cursor is the promise: every record visible when its window was scanned, with a time before Value, is stored.
type Cursor struct {
	ID int64 `json:"id"`
	Namespace
	Origin        Instant `json:"origin"`
	OriginCode    string  `json:"origin_code"`
	ExprProtoHash string  `json:"expr_proto_hash,omitempty"`
	Campaign      string  `json:"campaign,omitempty"`
	Value         Instant `json:"watermark"`
	SealedThrough Instant `json:"complete_through"`
	Version       int64   `json:"version"`
	PlanVersion   int64   `json:"-"`
	UpdatedAt     Instant `json:"updated_at"`
	ObservedMax   string  `json:"observed_max,omitempty"`
	Repository    string  `json:"repository,omitempty" doc:"which of the providers behind the source it is of; nothing where the source is one provider"`
}

// WorkScope is where the work of a cursor stands.
func (c Cursor) WorkScope() WorkScope {
	return WorkScope{Source: c.Source, Endpoint: c.Endpoint, Operation: c.Operation, CursorID: c.ID, Repository: c.Repository}
}

// EventKey is the idempotency key of one move of a cursor.
func EventKey(ns Namespace, prev, next Instant, w Window, runID int64) string {
	return Hash([]any{ns, prev.String(), next.String(), w, runID})
}

// SealedFrontier is how far a cursor is complete: the contiguous sealed stretch from where it was, or back at
// the start of a window that has since come into dispute.
func SealedFrontier(was Instant, closing CoverageEntry, answers []CoverageEntry) Instant {
	if closing.State != StateSealed && closing.Window.From < was {
		was = closing.Window.From
	}
	return CoverageByState(answers)[StateSealed].Frontier(was)
}
