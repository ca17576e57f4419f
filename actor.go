package patra

import "context"

type actorKey struct{}

// ActingAs says on whose behalf what follows is done: the audit log names them.
func ActingAs(ctx context.Context, actor string) context.Context {
	return context.WithValue(ctx, actorKey{}, actor)
}

type tokenKey struct{}

// ActingBy is ActingAs for somebody who showed a token: the audit log has its id too, as a name can be given twice.
func ActingBy(ctx context.Context, actor string, token int64) context.Context {
	return context.WithValue(ActingAs(ctx, actor), tokenKey{}, token)
}

// TokenIn is the id of the token by which something is done; 0 if there was none.
func TokenIn(ctx context.Context) int64 {
	id, _ := ctx.Value(tokenKey{}).(int64)
	return id
}

// ActorOf is on whose behalf something is done; empty if nobody said so.
func ActorOf(ctx context.Context) string {
	name, _ := ctx.Value(actorKey{}).(string)
	return name
}
