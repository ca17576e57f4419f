package cli

import (
	"context"

	"patra"
	"patra/internal/api"
	"patra/internal/view"
)

// signalRoutes ask for records to be looked at again.
func (d *apiHandlers) signalRoutes(s *api.Server) {
	type signalWish struct {
		Body struct {
			Source     string             `json:"source" minLength:"1" maxLength:"47"`
			IDs        []string           `json:"ids" minItems:"1" maxItems:"10000" nullable:"false"`
			Kind       patra.SignalReason `json:"kind,omitempty" enum:"RETRACTED,ERRATUM,MERGED,MISSING_FIELD,REMAP,STALE,MANUAL" default:"MANUAL" doc:"why"`
			Type       string             `json:"record_type,omitempty" maxLength:"64" doc:"if the source has several"`
			Repository string             `json:"repository,omitempty" maxLength:"255" doc:"of the records, if the source has several"`
		}
	}
	api.Post(s, "/signals", api.Steer, api.Doc{ID: "add-signals", Summary: "Ask for records to be fetched again by their ids"}, func(ctx context.Context, in *signalWish) (signalResult, error) {
		ids, err := readIDs(in.Body.IDs, "")
		if err != nil {
			return signalResult{}, err
		}
		return d.app.addSignals(ctx, d.store, view.RecordName{Source: in.Body.Source, Type: in.Body.Type, Repository: in.Body.Repository}, ids, in.Body.Kind)
	})
}
