package source

// Columns are the mapped fields of a source that are texts, numbers and the like, and whether each is a list of them. Fields
// with a shape of their own, such as authors, are none of these. What an answer really holds is its provider's business.
func (f *File) Columns() map[string]bool {
	all := map[string]bool{}
	for _, e := range f.Endpoints {
		m := f.Mapping
		if len(e.Mapping) > 0 {
			m = e.Mapping
		}
		for name, text := range m {
			if list, flat := columnOf(e.Response.Format, text); flat {
				all[name] = all[name] || list
			}
		}
	}
	return all
}

// columnOf says whether a mapping gives a list, and whether what it gives is flat.
func columnOf(format, text string) (list, flat bool) {
	m, err := parseMapping(format, text)
	if err != nil || m.object != nil {
		return false, false
	}
	list = m.path.many()
	for _, c := range m.calls {
		if whole, ok := listFunctions[c.name]; ok {
			_, list, _ = whole(nil, c.args) // whether it gives a list does not depend on what is in it
		}
	}
	return list, true
}
