package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// What is kept of a sandbox's labels to tell kinds apart.
const (
	mostKinds    = 8
	longestLabel = 40
)

// KindsOf are the labels of the sandbox, as key=value and in order, that may say what kind it is: short ones, and none
// that holds an id of its own.
func (s *Sandbox) KindsOf() (kinds []string) {
	for _, key := range SortedKeys(s.Labels) {
		if len(kinds) < mostKinds && s.tellsKind(key) {
			kinds = append(kinds, text.Line(key+"="+s.Labels[key]))
		}
	}
	return kinds
}

// ShareKinds gives the sandbox its kinds: those of another one where they are the same, as of most. To compare makes
// no text.
func (s *Sandbox) ShareKinds(of []string) {
	var room [mostKinds]string
	keys := room[:0]
	for key := range s.Labels {
		if s.tellsKind(key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	s.Kinds = of
	if !slices.EqualFunc(keys[:min(len(keys), mostKinds)], of, func(key, kind string) bool {
		rest, found := strings.CutPrefix(kind, key)
		return found && len(rest) > 0 && rest[0] == '=' && rest[1:] == s.Labels[key]
	}) {
		s.Kinds = s.KindsOf()
	}
}

func (s *Sandbox) tellsKind(key string) bool {
	value := s.Labels[key]
	own := value == "" || value == s.ID || value == s.Name || value == s.Task || value == s.SandboxKey
	return !own && len(key) <= longestLabel && len(value) <= longestLabel
}

// A LabelGroup is what a rule would have done to the sandboxes with a label.
type LabelGroup struct {
	Label                    string // key=value
	Subjects, FalsePositives int
}

// String says it for people.
func (g LabelGroup) String() string {
	return fmt.Sprintf("%d of %d with %s lived or were used afterwards", g.FalsePositives, g.Subjects,
		text.Clip(g.Label, 2*longestLabel))
}

// MostGroups is how many labels of a rule are shown.
const MostGroups = 3

// Telling are the groups that say most: with the most false positives, then the fewest others.
func Telling(groups []LabelGroup) []LabelGroup {
	groups = slices.DeleteFunc(slices.Clone(groups), func(g LabelGroup) bool { return g.FalsePositives == 0 })
	slices.SortFunc(groups, func(a, b LabelGroup) int {
		switch {
		case a.FalsePositives != b.FalsePositives:
			return b.FalsePositives - a.FalsePositives
		case a.Subjects != b.Subjects:
			return a.Subjects - b.Subjects
		case a.Label < b.Label:
			return -1
		}
		return 1
	})
	if len(groups) == 0 {
		return nil
	}
	return slices.Clip(groups[:min(len(groups), MostGroups)])
}
