package formula

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Endpoint is the placeholder that stands for a sandbox's own address. An address may begin
// with it.
const Endpoint = "endpoint"

// A Template is an address with placeholders in braces. What they stand for is escaped, so
// that it can never lead to another place.
type Template struct {
	host  string // https://host where the address names its own; "{endpoint}" for the sandbox's; "" for the API's
	path  []piece
	query [][]piece // one parameter each
}

// A piece is a text, or the name of a placeholder.
type piece struct{ text, name string }

var placeholder = regexp.MustCompile(`\{([^{}]*)\}`)

// ParseAddress reads an address over these placeholders.
func ParseAddress(text string, names []string) (*Template, error) {
	host, rest, err := origin(text)
	if err != nil {
		return nil, err
	}
	if strings.ContainsAny(rest, "# \t\r\n\\") {
		return nil, errors.New("holds a blank, a backslash or a #")
	}
	path, query, _ := strings.Cut(rest, "?")
	t := &Template{host: host}
	if t.path, err = pieces(path, names); err != nil {
		return nil, err
	}
	for param := range strings.SplitSeq(query, "&") {
		parts, err := pieces(param, names)
		if err != nil {
			return nil, err
		}
		if len(parts) > 0 {
			t.query = append(t.query, parts)
		}
	}
	if _, err := url.Parse(placeholder.ReplaceAllLiteralString(rest, "x")); err != nil {
		return nil, errors.New("is no address")
	}
	return t, nil
}

// origin splits off the host that an address names, which must be plain.
func origin(text string) (host, rest string, err error) {
	if after, ok := strings.CutPrefix(text, "{"+Endpoint+"}"); ok && strings.HasPrefix(after, "/") {
		return "{" + Endpoint + "}", after, nil
	}
	if strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//") {
		return "", text, nil
	}
	scheme, after, ok := strings.Cut(text, "://")
	name, path, slash := strings.Cut(after, "/")
	if !ok || !slash || name == "" || strings.ContainsAny(name, "{}@?#") || scheme != "https" && scheme != "http" {
		return "", "", errors.New("begins neither with / nor with https://host/ nor with {endpoint}/")
	}
	return scheme + "://" + name, "/" + path, nil
}

// pieces splits a text at its placeholders.
func pieces(text string, names []string) ([]piece, error) {
	var out []piece
	for text != "" {
		at := placeholder.FindStringSubmatchIndex(text)
		plain := text
		if at != nil {
			plain = text[:at[0]]
		}
		if strings.ContainsAny(plain, "{}") {
			return nil, errors.New("holds a brace that is not closed")
		}
		if plain != "" {
			out = append(out, piece{text: plain})
		}
		if at == nil {
			break
		}
		name := text[at[2]:at[3]]
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("holds the placeholder {%s}; here there are {%s}", name, strings.Join(names, "}, {"))
		}
		out = append(out, piece{name: name})
		text = text[at[1]:]
	}
	return out, nil
}

// Has reports whether the address holds the placeholder.
func (t *Template) Has(name string) bool {
	is := func(p piece) bool { return p.name == name }
	return slices.ContainsFunc(t.path, is) ||
		slices.ContainsFunc(t.query, func(param []piece) bool { return slices.ContainsFunc(param, is) })
}

// Host is the scheme and host that the address names: "" for the API's own, {endpoint} for
// the sandbox's.
func (t *Template) Host() string { return t.host }

// Expand fills the placeholders in. The result begins with / and goes behind the host. A
// parameter whose only value is empty is left out.
func (t *Template) Expand(values map[string]string) (string, error) {
	var out strings.Builder
	for _, p := range t.path {
		value := values[p.name]
		if p.name != "" && value == "" {
			return "", fmt.Errorf("make the address: {%s} is empty", p.name)
		}
		out.WriteString(p.text + url.PathEscape(value))
	}
	for part := range strings.SplitSeq(out.String(), "/") {
		if part == "." || part == ".." {
			return "", errors.New("make the address: it would lead to another place")
		}
	}
	sign := "?"
	for _, param := range t.query {
		text, empty := "", len(param) > 1
		for i, p := range param {
			text += p.text + url.QueryEscape(values[p.name])
			empty = empty && (i == 0 && strings.HasSuffix(p.text, "=") || p.name != "" && values[p.name] == "")
		}
		if !empty {
			out.WriteString(sign + text)
			sign = "&"
		}
	}
	return out.String(), nil
}

// CheckHeader refuses a header's value with a placeholder of another name.
func CheckHeader(text string, names []string) error {
	_, err := pieces(text, names)
	return err
}
