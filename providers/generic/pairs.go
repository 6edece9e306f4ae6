package generic

import (
	"cmp"
	"maps"
	"slices"
)

// has reports whether a word of the provider stands for one of the states.
func (c *compiler) has(states ...string) bool {
	known := slices.Collect(maps.Values(c.api.States))
	return slices.ContainsFunc(states, func(s string) bool { return slices.Contains(known, s) })
}

// pairs holds the parts of a description against each other.
func (c *compiler) pairs() {
	a := c.api
	paging := cmp.Or(a.List.Paging, "none")
	places := slices.Contains([]string{"cursor", "page", "offset"}, paging)
	for _, need := range []struct {
		wrong             bool
		key, problem, fix string
	}{
		{a.List.Path == "", "list.path", "is not given", "give the address of the list"},
		{a.List.Items == "", "list.items", "is not given", "say where the list is, for example body.sandboxes"},
		{a.Get.Path == "", "get.path", "is not given", "nothing is done to a sandbox that cannot be looked at: give it"},
		{a.Sandbox.ID == "", "sandbox.id", "is not given", "say where the immutable id of a sandbox is"},
		{a.Sandbox.State == "", "sandbox.state", "is not given", "say where the state of a sandbox is"},
		{!c.has("running"), "states", "has no word for running", "map one, for example {started: running}"},
		{a.Absent == "" && !c.has("ended"), "absent", "is not given, so that a sandbox is never known to be gone",
			`give it, for example status == 404 and body?.code == "no_such_sandbox"`},
		{paging == "cursor" && a.List.Next == "", "list.next", "is not given", "say where the next cursor is"},
		{places && !c.holds("list", paging), "list.path", "has no {" + paging + "}", "put it there"},
		{paging != "none" && a.List.Size == 0, "list.size", "is not given", "say how many are on a full page"},
		{len(a.List.Scopes) > 0 && !c.holds("list", "scope"), "list.path", "has no {scope}", "put it there"},
		{!c.holds("find", "task"), "find.path", "has no {task}", "put it there"},
		{(a.Stop.Path == "") != (a.Resume.Path == ""), "stop", "and resume belong together",
			"give both: what is stopped must be able to come back"},
		{a.Stop.Path != "" && !c.has("stopped", "suspended"), "stop", "no word stands for stopped or suspended",
			"map the state that it leads to"},
		{a.Exec.Path != "" && a.Exec.Exit == "", "exec.exit", "is not given", "say where the exit code is"},
		{a.Files.Path != "" && a.Files.Entries == "", "files.entries", "is not given", "say where the entries are"},
	} {
		if need.wrong {
			c.fail(need.key, need.problem, need.fix)
		}
	}
}

// holds reports whether a call has the placeholder, as far as that is known.
func (c *compiler) holds(what, name string) bool {
	of := c.calls[what]
	return of == nil || of.body != nil || of.address.Has(name)
}
