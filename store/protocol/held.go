package protocol

import "strings"

// HeldBy says what kind of thing a text that holds a finding speaks of, by its first words:
// "pause: all (drill) by ana" is "pause". A freeze is the source that is not trusted:
// "listing-untrusted daytona" is "listing:daytona". There are never more kinds than rules,
// sources and words below, whatever a text says further on.
func HeldBy(text string) string {
	first, rest, _ := strings.Cut(text, " ")
	if source, ok := strings.CutSuffix(first, "-untrusted"); ok {
		return frozen(source, rest)
	}
	if kind, ok := heldByWord[first]; ok {
		return kind
	}
	second, _, _ := strings.Cut(rest, " ")
	if kind, ok := heldByTwo[first+" "+second]; ok {
		return kind
	}
	return "other"
}

// heldByWord are the kinds that the first word tells.
var heldByWord = map[string]string{
	"off":            "off",
	"observe":        "observe",
	"pause:":         "pause",
	"hold:":          "hold",
	"veto:":          "veto",
	"breaker:":       "breaker",
	"budget:":        "budget",
	"incident:":      "incident",
	"quarantine:":    "quarantine",
	"rollout:":       "rollout",
	"not-exclusive:": "not-exclusive",
	"unparsable:":    "unparsable",
	"status":         "unmapped-status",
}

// heldByTwo are those that it takes two words to tell.
var heldByTwo = map[string]string{
	"unknown state":   "unknown-state",
	"unmatched pair:": "unmatched-pair",
	"its task":        "unread-task",
}

// frozen is the name of the source that is not trusted. Listings, probes, clocks and
// credentials have one for each provider or column, the others have one.
func frozen(source, rest string) string {
	which, _, _ := strings.Cut(rest, " ")
	switch source {
	case "tasks", "link", "events":
		return source
	case "listing", "probes", "clock", "credential":
		return source + ":" + which
	}
	return "other"
}
