package ui

import "github.com/sandkeeper/sandkeeper/reconcile"

// mostEvidence is how many facts of one thing a page shows.
const mostEvidence = 20

// An EvidenceLine is one fact. Its time is of the source's own clock, so it has no age.
type EvidenceLine struct {
	Source string
	At     Moment
	Fact   string
	Block  string // what is too long for a line
}

// EvidenceLines are the facts of a finding or an incident.
func EvidenceLines(all []reconcile.Evidence) []EvidenceLine {
	var lines []EvidenceLine
	for _, e := range all[:min(len(all), mostEvidence)] {
		l := EvidenceLine{Source: Name(e.Source), At: Exactly(e.At)}
		l.Fact, l.Block = Inline(e.Fact)
		lines = append(lines, l)
	}
	return lines
}
