// Package api is Patra over HTTP: routes with their OpenAPI document, who may call them, and a stream of what changes.
//
// Every route has a need: whoever registers one without saying who may call it does not get a server. Answers are the same
// values that commands print with -o json. The package holds what is common to all routes, and those that are plain reading of
// the store; a route that needs the whole program is registered by whoever has it. It sends nothing, and decides no rule.
package api
