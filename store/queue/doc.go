// Package queue spreads passes, remedies, probes and notifications over all processes, as jobs in
// PostgreSQL by River, in the schema sandkeeper.
//
// A job carries an id and nothing else. It is a kick: what is to be done stands in the
// ledger, which also decides who may do it. So a job that is lost, comes twice or comes
// late harms nothing, and no guard of ours rests on one of River's.
//
// There are four kinds, each with a queue of its own, so that none can starve another:
//
//   - pass: one at a time in each process. Periodic jobs of River start them on both
//     schedules, and a watch in each process starts those that stay away. Who waits for the
//     pass lease waits inside the job, see below.
//   - remedy: works at one remedy until its steps are confirmed.
//   - probe: probes one sandbox, within two minutes of being asked for or not at all.
//   - notify: tells people what is wrong, after each pass and once a minute. Which of two that run
//     at once tells a thing is decided by the ledger.
//
// # Decisions
//
// The watch: River's periodic jobs come from its leader. A leader that was killed is
// followed after up to 20 s, and the new one waits a whole interval before its first job.
// Passes must not be silent for longer than the pass lease, so each process also looks
// when a pass should have been there, and kicks one when it is not. While all is well
// that is one query per schedule, interval and process. A pass that takes longer than a
// second to end looks missing as well: what the watch kicked is void once it has ended.
//
// Waiting jobs: River's unique jobs count those that run, and a killed process leaves its
// jobs running until they are rescued, minutes later. That must not silence a pass or a
// remedy, so these are not unique: a kick is left out when a job for the same thing waits
// to begin, which a dead one does not. A probe, of which two at once would disturb each
// other, is unique: a killed one keeps its sandbox from being probed for up to 2 minutes.
//
// Backlog: a pass that begins does the work of all that were asked for before it, and
// deletes their jobs. Old ones are not dropped by their age: the one that is taken first
// may be the only one.
//
// Short waits: River makes a job that snoozes for less than 5 s available at once, and
// finds it again when it polls, every 10 s. Passes, and remedies for short waits, wait
// inside their job instead.
//
// Times: ages of jobs are taken from the database's clock alone. The time at which a pass
// job is to begin is left to the database too, for River would write the leader's, and a
// leader whose clock is ahead by some milliseconds would delay each pass to the next poll.
package queue
