package ui

// An Act is a link to the page that confirms one.
type Act struct{ Text, Href string }

// HoldAct holds a subject.
func HoldAct(subject string) Act { return Act{"Hold…", Asking("act/hold", "subject", subject)} }

// UnholdAct lifts a hold.
func UnholdAct(subject string) Act { return Act{"Lift…", Asking("act/unhold", "subject", subject)} }

// PauseAct pauses what is named.
func PauseAct(what string) Act { return Act{"Pause…", Asking("act/pause", "what", what)} }

// ResumeAct ends a pause.
func ResumeAct(what string) Act { return Act{"Resume…", Asking("act/resume", "what", what)} }

// ReleaseAct releases what a rule's breaker or an incident holds.
func ReleaseAct(rule string) Act { return Act{"Release…", Asking("act/release", "rule", rule)} }

// AcknowledgeAct acknowledges an incident.
func AcknowledgeAct(incident string) Act {
	return Act{"Acknowledge…", Asking("act/acknowledge", "target", "incident:"+incident)}
}

// RetryAct has tasks run again.
func RetryAct(what string) Act { return Act{"Retry…", Asking("act/retry", "target", what)} }

// ModeAct changes a rule's mode.
func ModeAct(rule string) Act { return Act{"Mode…", Asking("act/mode", "rule", rule)} }

// TerminateAct ends a sandbox.
func TerminateAct(provider, sandbox string) Act {
	return Act{"Terminate…", Asking("act/terminate", "provider", provider, "sandbox", sandbox)}
}

// RestoreAct brings a sandbox back from quarantine.
func RestoreAct(sandbox string) Act {
	return Act{"Restore…", Asking("act/restore", "sandbox", sandbox)}
}

// ProposedAct is what a program proposed, with its words.
func ProposedAct(verb, target, words string) Act {
	return Act{"Look and confirm…", Asking("act/"+verb, "target", target, "reason", words)}
}
