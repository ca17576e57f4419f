package source

import "maps"

// CensusSpec asks for the ids of a window, and for nothing else; nil: the provider does not list them.
func (s *Spec) CensusSpec() *Spec {
	if s.Census == nil {
		return nil
	}
	c := *s
	c.Census, c.Detail, c.Second, c.Mapping = nil, nil, nil, nil
	c.Request.Query = map[string]string{}
	maps.Copy(c.Request.Query, s.Request.Query)
	maps.Copy(c.Request.Query, s.Census.Query)
	c.Response = Response{Format: s.Response.Format, Items: s.Census.Items, ID: s.Census.ID, NoID: s.Response.NoID, Total: s.Response.Total}
	for _, rule := range s.Response.Errors {
		if rule.Means != meansSchema { // which looks for the records
			c.Response.Errors = append(c.Response.Errors, rule)
		}
	}
	return &c
}

// census checks how the ids of a window are asked for.
func (c *checker) census(at string, e Endpoint) {
	if e.Census == nil {
		return
	}
	c.items(at+".items", e.Response.Format, e.Census.Items)
	if len(e.Census.ID) == 0 {
		c.add(at+".id", "REQUIRED", "id is required", "write the path of what identifies a record, as the records have it")
	}
	for _, p := range e.Census.ID {
		c.path(at+".id", e.Response.Format, p)
	}
	if e.Detail != nil {
		c.add(at, "CONFLICT", "a search that gives ids is a census already", "leave it out")
	}
}
