// Package secret gives the values of secrets to whoever sends them.
//
// Settings hold references, such as env:NCBI_API_KEY or file:/run/secrets/wos, and never a secret itself. A value is read
// when it is needed and kept in memory only. No error of this package contains one.
//
// Its words: a reference says where a secret is; a vault looks there, by the name that sources use.
package secret
