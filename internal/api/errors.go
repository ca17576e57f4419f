package api

import (
	"context"
	"time"

	"patra"
)

// mostFailures is how many failed pages are looked at to see what goes wrong most often.
const mostFailures = 5000

// TopErrors is what went wrong most often.
type TopErrors struct {
	List[patra.FailureGroup]
	Since  patra.Instant `json:"since"`
	Looked int           `json:"looked" doc:"how many failed pages were counted"`
	Capped bool          `json:"capped" doc:"there were more; the newest were counted"`
}

// errors registers what goes wrong.
func (s *Server) errors() {
	type input struct {
		Since string `query:"since" maxLength:"40" doc:"a day ago, if nobody says otherwise"`
		Limit int    `query:"limit" minimum:"1" maximum:"100" default:"20"`
	}
	Get(s, "/errors/top", Look, Doc{ID: "errors-top", Summary: "What went wrong most often, with an example"}, func(ctx context.Context, in *input) (TopErrors, error) {
		since, err := moment("since", in.Since)
		if err != nil {
			return TopErrors{}, err
		}
		if since == 0 {
			since = patra.InstantOf(time.Now().Add(-24 * time.Hour))
		}
		found, err := s.Store.Failures(ctx, since, mostFailures)
		return TopErrors{List: All(patra.TopFailures(found, in.Limit)), Since: since, Looked: len(found), Capped: len(found) == mostFailures}, err
	})
}
