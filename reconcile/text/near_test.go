package text

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"columns", "database", "database_file", "observe", "off", "preset"}
	tests := map[string]struct{ word, want string }{
		"a letter too few":   {"colums", "columns"},
		"a letter too many":  {"collumns", "columns"},
		"swapped letters":    {"ovserbe", "observe"},
		"two swapped":        {"perset", "preset"},
		"capitals":           {"Columns", "columns"},
		"a beginning":        {"obse", "observe"},
		"nothing like it":    {"zzzz", ""},
		"a single letter":    {"o", ""},
		"nothing":            {"", ""},
		"a longer word":      {"observed", "observe"},
		"too far by a third": {"colxyz", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Nearest(tt.word, known); got != tt.want {
				t.Errorf("Nearest(%q) = %q, want %q", tt.word, got, tt.want)
			}
		})
	}
}
