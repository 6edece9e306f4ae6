package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// dirsOf asks the go command where the sources of a program's modules are. It is asked in
// the folder of the program's own module, the one above this tool's.
func dirsOf(ctx context.Context, info *buildinfo.BuildInfo) (map[string]string, error) {
	var complaints bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-json", "all")
	cmd.Dir, cmd.Stderr = "..", &complaints
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the modules of %s: %w: %s", info.Main.Path, err, complaints.String())
	}
	dirs := map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var m struct{ Path, Dir string }
		err := decoder.Decode(&m)
		if errors.Is(err, io.EOF) {
			return dirs, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read what go list said: %w", err)
		}
		dirs[m.Path] = m.Dir
	}
}

// A sign is words that stand in one licence and in no other of those before it.
type sign struct {
	id    string
	words []string
}

var signs = []sign{
	{"Apache-2.0", []string{"apache license", "version 2.0"}},
	{"MPL-2.0", []string{"mozilla public license", "2.0"}},
	{"BSD-3-Clause", []string{"redistribution and use in source and binary forms", "neither the name"}},
	{"BSD-3-Clause", []string{"redistribution and use in source and binary forms", "may be used to endorse or promote"}},
	{"BSD-2-Clause", []string{"redistribution and use in source and binary forms"}},
	{"ISC", []string{"permission to use, copy, modify, and/or distribute this software"}},
	{"ISC", []string{"permission to use, copy, modify, and distribute this software"}},
	{"MIT", []string{"permission is hereby granted, free of charge"}},
}

// licenceIn is the licence of the sources in a folder, "" when it is none of the usual ones.
func licenceIn(dir string) string {
	if dir == "" {
		return ""
	}
	for _, name := range []string{"LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "COPYING", "License"} {
		text, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // of the module cache, as the go command says
		if err == nil {
			return licence(string(text))
		}
	}
	return ""
}

func licence(text string) string {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, s := range signs {
		if !slices.ContainsFunc(s.words, func(w string) bool { return !strings.Contains(text, w) }) {
			return s.id
		}
	}
	return ""
}
