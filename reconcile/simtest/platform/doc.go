// Package platform is the simulated world that a history is played in: a platform with its task
// table, orchestrator, workers and users, the sandboxes at its providers, and the truth of them.
// It is told of every call of a process, and says what must never happen and did.
package platform
