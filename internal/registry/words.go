package registry

import "patra"

// Words are the codes of source files and the other words for them, as the program knows them. A store is seeded with
// the same words, and a test compares the two: a file must mean the same before there is a store.
func Words() patra.Dictionary {
	return patra.Dictionary{
		"http_method":       {Items: []string{"GET", "POST"}},
		"ing_operation":     {Items: []string{"HARVEST", "BACKFILL", "UPDATE", "METRICS"}},
		"reg_lifecycle":     {Items: []string{"ACTIVE", "DRAFT", "RETIRED"}},
		"reg_endpoint_role": {Items: []string{"SEARCH", "DETAIL", "METRICS"}},
		"reg_auth_type": {Items: []string{"NONE", "API_KEY", "BEARER", "BASIC", "OAUTH2", "CUSTOM"}, Aliases: map[string]string{
			"apikey": "API_KEY", "api-key": "API_KEY", "key": "API_KEY",
			"bearer_token": "BEARER",
			"anonymous":    "NONE",
		}},
		"reg_auth_place": {Items: []string{"QUERY", "HEADER", "BODY"}, Aliases: map[string]string{
			"url": "QUERY", "params": "QUERY",
			"headers": "HEADER",
		}},
		"reg_auth_signer": {Items: []string{"HMAC_SHA256"}},
		"reg_send":        {Items: []string{"QUERY", "FORM", "JSON"}},
		"reg_pagination_type": {Items: []string{"OFFSET", "PAGE", "TOKEN", "URL", "TIME"}, Aliases: map[string]string{
			"cursor": "TOKEN", "scroll": "TOKEN", "resumption_token": "TOKEN", "resumptiontoken": "TOKEN", "next_token": "TOKEN",
			"next_url": "URL", "link": "URL",
			"page_number": "PAGE",
			"start":       "OFFSET",
		}},
		"reg_stability":    {Items: []string{"SHIFTING", "KEYSET", "SNAPSHOT"}},
		"reg_list_order":   {Items: []string{"ASC", "DESC", "FIXED", "RELEVANCE", "UNSTABLE_TIES", "NONE"}},
		"reg_list_key":     {Items: []string{"unique"}},
		"reg_token_state":  {Items: []string{"STATELESS", "STATEFUL"}},
		"reg_token_same":   {Items: []string{"END", "CONTINUE", "ERROR"}},
		"reg_token_encode": {Items: []string{"ALWAYS", "NEVER"}},
		"ing_end":          {Items: []string{"NO_TOKEN", "SAME_TOKEN", "EMPTY_PAGE", "NULL_NEXT", "SHORT_PAGE", "EMPTY_CODE", "ITEMS_DONE"}},
		"reg_format": {Items: []string{"JSON", "XML", "JSONL", "CSV", "TSV"}, Aliases: map[string]string{
			"ndjson": "JSONL", "jsonlines": "JSONL", "json_lines": "JSONL",
		}},
		"reg_no_id": {Items: []string{"QUARANTINE", "HASH"}},
		"ing_total": {Items: []string{"EXACT", "ESTIMATE", "NONE"}, Aliases: map[string]string{
			"approximate": "ESTIMATE", "estimated": "ESTIMATE",
			"unknown": "NONE",
		}},
		"reg_failure_means": {Items: []string{"RETRY", "REFUSED", "FATAL", "EMPTY", "TOKEN_EXPIRED", "SCHEMA"}},
		"reg_window_mode":   {Items: []string{"CALENDAR", "SLIDING"}},
		"reg_window_upper":  {Items: []string{"INCLUSIVE_DAY", "INCLUSIVE_SECOND", "EXCLUSIVE", "DISCOVER"}},
		"reg_time_unit": {Items: []string{"MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "DISCOVER"}, Aliases: map[string]string{
			"ms":      "MILLISECOND",
			"daily":   "DAY",
			"hourly":  "HOUR",
			"monthly": "MONTH",
		}},
		"ing_order": {Items: []string{"ASC", "DESC", "NONE"}, Aliases: map[string]string{
			"ascending":  "ASC",
			"descending": "DESC",
			"unordered":  "NONE",
		}},
		"reg_field_type": {Items: []string{"TEXT", "KEYWORD", "TOKEN", "DATE", "DATETIME", "NUMBER"}, Aliases: map[string]string{
			"string":    "TEXT",
			"timestamp": "DATETIME",
			"integer":   "NUMBER",
		}},
		"reg_expr_op":        {Items: []string{"TERM", "IN", "RANGE", "EXISTS", "TOKEN"}},
		"reg_expr_match":     {Items: []string{"ANY", "PHRASE", "EXACT", "PREFIX"}},
		"reg_expr_end":       {Items: []string{"FROM", "TO"}},
		"reg_expr_upper":     {Items: []string{"INCLUSIVE", "EXCLUSIVE"}},
		"reg_expr_escape":    {Items: []string{"REFUSE", "BACKSLASH", "DOUBLE"}},
		"reg_transform":      {Items: []string{"LOWER", "UPPER"}},
		"ing_signal_reason":  {Items: []string{"RETRACTED", "ERRATUM", "MERGED", "MISSING_FIELD", "QUARANTINE", "REMAP", "STALE", "MANUAL"}},
		"reg_merge_nulls":    {Items: []string{"OVERWRITE", "FILL"}},
		"ing_slice_strategy": {Items: []string{"TIME", "ID_RANGE", "CURSOR_LANDMARK", "VOLUME_BUDGET", "HYBRID"}},
	}
}
