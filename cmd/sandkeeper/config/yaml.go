package config

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

const emptyFix = "it needs installation, database, tasks and providers; " +
	"deploy/examples/omoios-daytona/sandkeeper.yaml is one to start from"

// parseYAML returns the root of the one document in the text, or reports what is wrong
// and returns nil.
func parseYAML(r *report, text []byte) ast.Node {
	if len(text) > maxSize {
		r.failAt(filePlace{1, 1}, Error{Problem: "is larger than 256 KiB", Fix: "give the config, not something else"})
		return nil
	}
	if !utf8.Valid(text) {
		r.failAt(brokenText(text), Error{Problem: "is not text in UTF-8", Fix: "save the file in UTF-8"})
		return nil
	}
	file, deep, err := parseTree(text)
	if deep != nil {
		r.failAt(tokenPlace(deep), Error{Problem: "is nested too deep",
			Fix: "close what is open, and put brackets in quotes"})
		return nil
	}
	if at, found := tabbed(text); err != nil && found {
		r.failAt(at, Error{Problem: "the line is indented with a tab, which YAML does not allow",
			Fix: "indent it with spaces"})
		return nil
	}
	if err != nil {
		r.failAt(syntaxPlace(err), Error{Problem: "is not YAML: " + syntaxMessage(err), Fix: syntaxFix(err)})
		return nil
	}
	var root ast.Node
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil:
		case root != nil:
			r.failAt(nodePlace(doc.Body), Error{Problem: "a second document begins here",
				Fix: "keep one in the file"})
		default:
			root = doc.Body
		}
	}
	if _, null := root.(*ast.NullNode); root == nil || null {
		r.failAt(filePlace{1, 1}, Error{Problem: "the config is empty", Fix: emptyFix})
		return nil
	}
	return root
}

// tabbed is the first line that is indented with a tab.
func tabbed(text []byte) (filePlace, bool) {
	line := 0
	for l := range bytes.Lines(text) {
		line++
		indent := l[:len(l)-len(bytes.TrimLeft(l, " \t"))]
		if at := bytes.IndexByte(indent, '\t'); at >= 0 && len(bytes.TrimSpace(l)) > 0 {
			return filePlace{line, at + 1}, true
		}
	}
	return filePlace{}, false
}

// brokenText is where the first character stands that is none.
func brokenText(text []byte) filePlace {
	good := len(text)
	for i, r := range string(text) {
		if _, size := utf8.DecodeRune(text[i:]); r == utf8.RuneError && size == 1 {
			good = i
			break
		}
	}
	begins := bytes.LastIndexByte(text[:good], '\n') + 1
	return filePlace{1 + bytes.Count(text[:good], []byte{'\n'}), 1 + utf8.RuneCount(text[begins:good])}
}

// parseTree parses the text, unless a token of it is too deep. It keeps a panic of the
// YAML library on odd input from ending the daemon, which reads its config again while
// it runs.
func parseTree(text []byte) (file *ast.File, deep *token.Token, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("it cannot be parsed")
		}
	}()
	tokens := lexer.Tokenize(string(text))
	if deep := tooDeep(tokens); deep != nil {
		return nil, deep, nil
	}
	// Duplicate keys are let through: they are reported with the rest.
	file, err = parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	return file, nil, err
}

// tooDeep returns the first token that is nested deeper than any config is. The parser
// takes memory with the square of the depth.
func tooDeep(tokens token.Tokens) *token.Token {
	const deepest = 32
	depth, line, indicators := 0, 0, 0
	for _, t := range tokens {
		if t.Position != nil && t.Position.Line != line {
			line, indicators = t.Position.Line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.SequenceEntryType, token.MappingKeyType, token.AnchorType, token.TagType, token.AliasType:
			indicators++
		}
		if depth > deepest || indicators > deepest {
			return t
		}
	}
	return nil
}

func syntaxPlace(err error) filePlace {
	var at yaml.Error
	if errors.As(err, &at) && at.GetToken() != nil {
		return tokenPlace(at.GetToken())
	}
	return filePlace{1, 1}
}

// syntaxMessage is the library's sentence without the lines of the file that it likes to
// quote: they may hold a secret.
func syntaxMessage(err error) string {
	var at yaml.Error
	if errors.As(err, &at) {
		return clipped(at.GetMessage())
	}
	return "it cannot be parsed"
}

func syntaxFix(err error) string {
	var at yaml.Error
	if !errors.As(err, &at) {
		return "compare it with deploy/examples/omoios-daytona/sandkeeper.yaml"
	}
	switch syntaxMessage(err) {
	case "mapping value is not allowed in this context":
		return "look at the indentation here, and put a value with a colon in quotes"
	case "',' or '}' must be specified", "could not find flow mapping end token '}'":
		return "close what is open, and put ${…} inside {…} in quotes"
	}
	return "look at the indentation and the quotes here"
}

func nodePlace(n ast.Node) filePlace { return tokenPlace(n.GetToken()) }

func tokenPlace(t *token.Token) filePlace {
	if t == nil || t.Position == nil {
		return filePlace{1, 1}
	}
	return filePlace{max(t.Position.Line, 1), max(t.Position.Column, 1)}
}
