package ui

// An Act is a link to the page that confirms one.
type Act struct {
	Text, Href string
	Off        string // why it is not to be asked for now, in few words; "" when it is
}

// HoldAct holds a subject.
func HoldAct(subject string) Act {
	return Act{Text: "Hold…", Href: Asking("act/hold", "subject", subject)}
}

// UnholdAct lifts a hold.
func UnholdAct(subject string) Act {
	return Act{Text: "Lift…", Href: Asking("act/unhold", "subject", subject)}
}

// PauseAct pauses what is named.
func PauseAct(what string) Act { return Act{Text: "Pause…", Href: Asking("act/pause", "what", what)} }

// PauseAllAct pauses all acting.
func PauseAllAct() Act {
	return Act{Text: "Pause everything…", Href: Asking("act/pause", "what", "all")}
}

// PassAct has a pass made at once.
func PassAct() Act { return Act{Text: "Pass now…", Href: Asking("act/pass", "target", "full")} }

// EmergencyAct ends all sandboxes.
func EmergencyAct() Act { return Act{Text: "Emergency…", Href: "act/emergency"} }

// ResumeAct ends a pause.
func ResumeAct(what string) Act {
	return Act{Text: "Resume…", Href: Asking("act/resume", "what", what)}
}

// ReleaseAct releases what a rule's breaker or an incident holds.
func ReleaseAct(rule string) Act {
	return Act{Text: "Release…", Href: Asking("act/release", "rule", rule)}
}

// AcknowledgeAct acknowledges an incident.
func AcknowledgeAct(incident string) Act {
	return Act{Text: "Acknowledge…", Href: Asking("act/acknowledge", "target", "incident:"+incident)}
}

// RetryAllAct has all tasks of an incident run again.
func RetryAllAct(incident string) Act {
	return Act{Text: "Retry all affected tasks…", Href: Asking("act/retry", "target", "incident:"+incident)}
}

// RetryAct has a task run again.
func RetryAct(what string) Act {
	return Act{Text: "Retry…", Href: Asking("act/retry", "target", what)}
}

// ModeAct changes a rule's mode.
func ModeAct(rule string) Act { return Act{Text: "Mode…", Href: Asking("act/mode", "rule", rule)} }

// TerminateAct ends a sandbox.
func TerminateAct(provider, sandbox string) Act {
	return Act{Text: "Terminate…", Href: Asking("act/terminate", "provider", provider, "sandbox", sandbox)}
}

// RestoreAct brings a sandbox back from quarantine.
func RestoreAct(sandbox string) Act {
	return Act{Text: "Restore…", Href: Asking("act/restore", "sandbox", sandbox)}
}

// ProposedAct is what a program proposed, with its words.
func ProposedAct(verb, target, words string) Act {
	return Act{Text: "Look and confirm…", Href: Asking("act/"+verb, "target", target, "reason", words)}
}
