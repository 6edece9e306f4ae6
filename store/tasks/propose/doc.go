// Package propose looks at a database and proposes how its tasks are mapped: which table holds them, what its columns
// and statuses mean, where the workers' events are, and why. What a look finds is data ([Catalog]), deciding is pure,
// and what cannot be decided is said ([Proposal.Doubts]). Of two readings it takes the one that does less.
package propose
