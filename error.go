package patra

import (
	"errors"
	"fmt"
	"strings"
)

// Level says what a failure means for the work in hand. It decides who acts next.
type Level string

// The four levels, from "try again" to "a person must look".
const (
	LevelRetry   Level = "L1" // network, 5xx, 429: the same request may succeed later
	LevelRequest Level = "L2" // the provider refuses this request: asking again changes nothing
	LevelData    Level = "L3" // one record is unusable: it is quarantined and the page goes on
	LevelFatal   Level = "L4" // credentials, signing, schema break: stop until a person resumes
)

// Error codes of the harvest itself. They are stored in rows and printed, so they never change.
const (
	CodeExhausted     = "EXHAUSTED"      // every permitted attempt was used
	CodeNetwork       = "NETWORK"        // no answer, or a connection that broke
	CodeCertificate   = "CERTIFICATE"    // the provider does not prove that it is who it says
	CodeTimeout       = "TIMEOUT"        // no complete answer in time
	CodeHTTP          = "HTTP"           // an answer with a status that means failure
	CodeRateLimited   = "RATE_LIMITED"   // the provider asks us to slow down
	CodeTokenExpired  = "TOKEN_EXPIRED"  // a paging token the provider no longer knows
	CodeDisputed      = "DISPUTED"       // the provider's exact count differs from what was seen
	CodeUnproved      = "UNPROVED"       // what was read of a window does not prove that it is all
	CodeTooLarge      = "TOO_LARGE"      // a body or a record over the limit
	CodeBadBody       = "BAD_BODY"       // a body that ends too early, or that says two things
	CodeUnreadable    = "UNREADABLE"     // a whole body that is no XML or no JSON
	CodeWebPage       = "WEB_PAGE"       // a web page in place of data
	CodeSchema        = "SCHEMA"         // the items path is gone from a successful answer
	CodeProvider      = "PROVIDER"       // the provider says so in its answer
	CodeAuth          = "AUTH"           // the provider does not accept who we say we are, or we cannot say it
	CodeDeepPaging    = "DEEP_PAGING"    // the provider answers no further, and there is more
	CodeLinkAway      = "LINK_AWAY"      // a link to the next page that leads to another host
	CodeEncoding      = "ENCODING"       // a body that is compressed in a way that we did not ask for
	CodeLoop          = "LOOP"           // the walk repeats itself
	CodeMissingID     = "MISSING_ID"     // a record without a usable id
	CodeBadText       = "BAD_TEXT"       // a record whose id is no valid text
	CodeBrokenXML     = "XML_BROKEN"     // a record whose element is no XML, also after what can be repaired was
	CodeTooDeep       = "TOO_DEEP"       // a record or a body that nests more deeply than is read
	CodeDuplicateKey  = "DUPLICATE_KEY"  // a record in which a key occurs twice in one object
	CodeBadTime       = "BAD_TIME"       // a record whose update time cannot be read
	CodeMapping       = "MAPPING"        // a record whose mapped fields cannot be read
	CodeNotKept       = "NOT_KEPT"       // an answer could not be kept, so that no page was made of it: the disk is full, or the place is gone
	CodeNewer         = "NEWER"          // a task says something that only another version of the program understands
	CodeImplausible   = "IMPLAUSIBLE"    // the provider refuses records that it gave before, and is not believed
	CodeInternal      = "INTERNAL"       // a defect of ours
	CodeUnknownSource = "UNKNOWN_SOURCE" // no source of that name

	CodeSecretMissing    = "SECRET_MISSING"    // the secret is not set
	CodeSecretUnreadable = "SECRET_UNREADABLE" // the secret is set and cannot be read
)

// Sentinels a caller decides on.
var (
	// ErrLeaseLost means that another owner has taken the task over; nothing was written.
	ErrLeaseLost = errors.New("the lease was taken over by another worker; nothing was written")
	// ErrPlanMoved means that another planner changed the cursor's plans; compute the need again.
	ErrPlanMoved = errors.New("another planner changed the plans of this cursor")
	// ErrFired means that this fire of a schedule was accepted before.
	ErrFired = errors.New("this fire of the schedule was accepted before")
	// ErrNoProof means that the ledger does not prove that the scan reached its end.
	ErrNoProof = errors.New("the ledger does not prove that the scan was exhausted")
	// ErrLookAgain means that the parts of a window do not add up to the whole, and that nobody has looked twice; nothing
	// was written.
	ErrLookAgain = errors.New("whether the parts of this window are all of it must be looked at once more")
	// ErrIllegalMove means that a state machine does not allow the requested step.
	ErrIllegalMove = errors.New("the state machine does not allow this step")
	// ErrUnavailable means that the store could not be written for reasons of its own: locked, full, gone.
	ErrUnavailable = errors.New("the store cannot be used now")
	// ErrDamaged means that the file of the store is spoiled. It comes together with ErrUnavailable, and does not pass.
	ErrDamaged = errors.New("the store is damaged")
	// ErrNotFound means that a row that was named does not exist.
	ErrNotFound = errors.New("not found")
)

// Fault is a classified failure of one request, page or record: what happened, where, and how grave it is.
type Fault struct {
	Level  Level  `json:"level"`
	Code   string `json:"code"`
	Path   string `json:"path,omitempty"`   // field or request part it concerns
	Status int    `json:"status,omitempty"` // HTTP status, if there was one
	Text   string `json:"text"`
	Err    error  `json:"-"`
}

// Error says what happened in one sentence.
func (f *Fault) Error() string {
	var b strings.Builder
	b.WriteString(f.Code)
	if f.Status != 0 {
		fmt.Fprintf(&b, " %d", f.Status)
	}
	if f.Path != "" {
		b.WriteString(" at " + f.Path)
	}
	b.WriteString(": " + f.Text)
	return b.String()
}

// Unwrap gives the underlying error, if any.
func (f *Fault) Unwrap() error { return f.Err }

// AsFault finds the classification of err; an unclassified error is a defect of ours and may be retried.
func AsFault(err error) *Fault {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	return &Fault{Level: LevelRetry, Code: CodeInternal, Text: err.Error(), Err: err}
}
