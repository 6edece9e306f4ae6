package web

// An act is a link to the page that confirms one.
type act struct{ Text, Href string }

func holdAct(subject string) act { return act{"Hold…", asking("act/hold", "subject", subject)} }

func unholdAct(subject string) act { return act{"Lift…", asking("act/unhold", "subject", subject)} }

func pauseAct(what string) act { return act{"Pause…", asking("act/pause", "what", what)} }

func resumeAct(what string) act { return act{"Resume…", asking("act/resume", "what", what)} }

func releaseAct(rule string) act { return act{"Release…", asking("act/release", "rule", rule)} }

func acknowledgeAct(incident string) act {
	return act{"Acknowledge…", asking("act/acknowledge", "target", "incident:"+incident)}
}

func retryAct(what string) act { return act{"Retry…", asking("act/retry", "target", what)} }

func modeAct(rule string) act { return act{"Mode…", asking("act/mode", "rule", rule)} }

func terminateAct(provider, sandbox string) act {
	return act{"Terminate…", asking("act/terminate", "provider", provider, "sandbox", sandbox)}
}

func restoreAct(sandbox string) act {
	return act{"Restore…", asking("act/restore", "sandbox", sandbox)}
}
