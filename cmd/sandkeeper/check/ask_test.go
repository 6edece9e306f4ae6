package check

import "testing"

func TestNear(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]string{
		"[::]:8080": "127.0.0.1:8080", ":1": "127.0.0.1:1", "10.0.0.1:2": "10.0.0.1:2",
	} {
		if got := near(listen); got != want {
			t.Errorf("what listens at %s is asked at %s, want %s", listen, got, want)
		}
	}
}
