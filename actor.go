package patra

import "context"

type actorKey struct{}

// ActingAs says on whose behalf what follows is done: the audit log names them.
func ActingAs(ctx context.Context, actor string) context.Context {
	return context.WithValue(ctx, actorKey{}, actor)
}

// ActorOf is on whose behalf something is done; empty if nobody said so.
func ActorOf(ctx context.Context) string {
	name, _ := ctx.Value(actorKey{}).(string)
	return name
}
