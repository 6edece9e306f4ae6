package ui

import "testing"

// TestLinking: the ids of subjects that are known to be meant are links, as words of their own and nothing else.
func TestLinking(t *testing.T) {
	const (
		task = "task:0fe4a851-1a55-475d-87f0-e5c51c7aee98"
		box  = "sandbox:daytona/sb-77-light"
	)
	for line, want := range map[string]string{
		"nothing of it": "nothing of it",
		`it names task "0fe4a851-1a55-475d-87f0-e5c51c7aee98", which has no row`: `it names task &#34;<a href="../tasks/0fe4a851-1a55-475d-87f0-e5c51c7aee98">` +
			`0fe4a851-1a55-475d-87f0-e5c51c7aee98</a>&#34;, which has no row`,
		"sb-77-light and sb-77-light": `<a href="../sandboxes/daytona/sb-77-light">sb-77-light</a> and ` +
			`<a href="../sandboxes/daytona/sb-77-light">sb-77-light</a>`,
		"sb-77-light-2 xsb-77-light": "sb-77-light-2 xsb-77-light",
		"<b>sb-77-light":             `&lt;b&gt;<a href="../sandboxes/daytona/sb-77-light">sb-77-light</a>`,
		"exit 5":                     "exit 5",
	} {
		if got := Linking(line, task, box, "task:5", "task:", "").HTML("../"); got != want {
			t.Errorf("%q is %s, want %s", line, got, want)
		}
	}
}
