package store

import (
	"strings"

	"patra"
)

// A record of one repository among many that are asked through the same source has the repository behind its id in the column
// of ids, so that two repositories with the same ids have two rows; no repository has a blank in its name. The column of the
// repository says what is to be cut off. Of all other sources the key is the id, and the repository is NULL.

// scopedID is how an id stands in the table of records.
func scopedID(repository, id string) string {
	if repository == "" {
		return id
	}
	return id + " " + repository
}

// localID is the id of a key.
func localID(repository, key string) string {
	if repository == "" {
		return key
	}
	return strings.TrimSuffix(key, " "+repository)
}

// tasksOfRepository is a condition on tasks, which have the key of their repository behind their partition; without one it is
// true of all.
const tasksOfRepository = `(? = '' OR partition_key LIKE ? ESCAPE '!')`

// repositoryArgs are what tasksOfRepository asks for.
func repositoryArgs(at patra.WorkScope) []any {
	key := patra.RepositoryKey(at.Repository)
	return []any{key, "%/" + patra.EscapeLike(key)}
}
