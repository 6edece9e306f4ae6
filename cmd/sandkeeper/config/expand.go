package config

import (
	"fmt"
	"regexp"
	"strings"
)

// A misfit says why a text is not the value that it should be. Problem and fix never hold
// the text; detail may, and is shown only for what the file itself has, and no secret.
type misfit struct{ problem, fix, detail string }

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expandVariables replaces ${VAR} and ${VAR:-default}, the default also for a variable that is
// empty. $${ stands for ${. It works on values that were parsed before, so what a
// variable holds is never read as YAML.
func expandVariables(text string, getenv func(string) (string, bool)) (string, *misfit) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		if !found {
			out.WriteString(text)
			return out.String(), nil
		}
		if strings.HasSuffix(before, "$") {
			out.WriteString(strings.TrimSuffix(before, "$") + "${")
			text = rest
			continue
		}
		inside, after, closed := strings.Cut(rest, "}")
		if !closed {
			return "", &misfit{problem: "holds a ${ that is not closed", fix: "write ${NAME}, or $${ for the two characters"}
		}
		value, err := variable(inside, getenv)
		if err != nil {
			return "", err
		}
		out.WriteString(before + value)
		text = after
	}
}

// variable is the value of what stands between ${ and }.
func variable(inside string, getenv func(string) (string, bool)) (string, *misfit) {
	name, fallback, optional := strings.Cut(inside, ":-")
	if !variableName.MatchString(name) || strings.Contains(fallback, "${") {
		return "", &misfit{
			problem: "holds a ${…} that is no variable",
			detail:  clipped(inside),
			fix:     "write ${NAME} or ${NAME:-default}, or $${ for the two characters",
		}
	}
	value, set := getenv(name)
	if optional && value == "" {
		return fallback, nil
	}
	if !set {
		return "", &misfit{
			problem: fmt.Sprintf("needs the variable %s, which is not set", name),
			fix:     fmt.Sprintf("set it, or write ${%s:-default}", name),
		}
	}
	return value, nil
}
