// Package result is what the verbs that look say of what they found: for programs as JSON, whose names are a public
// contract, and for people as text. It is given what was found, and reads nothing itself.
package result
