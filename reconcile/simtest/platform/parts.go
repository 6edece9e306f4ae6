package platform

// A truth is what is really so, of a task and of a sandbox. No janitor knows it.
type truth struct{ *Platform }

// An orchestrator hands tasks out: it makes their sandboxes, starts their workers and ends them.
type orchestrator struct{ *Platform }

// users are the people whose tasks these are.
type users struct{ *Platform }

// A fleet is the sandboxes at the providers: whose they are, how they are called, what befalls them.
type fleet struct{ *Platform }

// mishaps are what befalls the platform as a whole.
type mishaps struct{ *Platform }

// A maker makes tasks that are in the middle of their lives, with their rows and sandboxes.
type maker struct{ *Platform }

func (t *Platform) truth() truth               { return truth{t} }
func (t *Platform) orchestrator() orchestrator { return orchestrator{t} }
func (t *Platform) users() users               { return users{t} }
func (t *Platform) fleet() fleet               { return fleet{t} }
func (t *Platform) mishaps() mishaps           { return mishaps{t} }
func (t *Platform) maker() maker               { return maker{t} }
