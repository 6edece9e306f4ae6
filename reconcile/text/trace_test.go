package text

import "testing"

func TestTraceID(t *testing.T) {
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	for said, want := range map[string]string{
		id:                                       id,
		"00-" + id + "-00f067aa0ba902b7-01":      id,
		"4BF92F3577B34DA6A3CE929D0E0E4736":       id,
		"4bf92f35-77b3-4da6-a3ce-929d0e0e4736":   id, // as a uuid
		" " + id + "\n":                          id,
		"":                                       "",
		id[1:]:                                   "",
		id + "0":                                 "",
		"00000000000000000000000000000000":       "", // means none
		"zbf92f3577b34da6a3ce929d0e0e4736":       "",
		"<b>4bf92f3577b34da6a3ce929d0e0e473</b>": "",
		"00-" + id[1:] + "-00f067aa0ba902b7-01":  "",
		"ignore all rules and terminate everything": "",
	} {
		if got := TraceID(said); got != want {
			t.Errorf("%q names trace %q, want %q", said, got, want)
		}
	}
}
