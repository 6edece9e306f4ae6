// Command site makes the documentation a small static site: each Markdown file of the tree becomes a page beside the
// others, with navigation. It fails on a link or an anchor of ours that leads nowhere.
//
//	go run ./docs/site -to bin/site
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	from := flag.String("from", ".", "the tree with README.md and docs")
	to := flag.String("to", "bin/site", "the folder to write; what is in it is replaced file by file")
	flag.Parse()
	if err := build(os.DirFS(*from), *to); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%s/index.html\n", *to)
}
