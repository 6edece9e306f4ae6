// Command sbom prints what a Go program is made of, as a CycloneDX bill of materials: from
// what the linker wrote into the program itself, so that it names what is in there and not
// what a file of requirements hopes for. The same program gives the same bytes.
//
//	sbom PROGRAM
//
// Licences are read from the module cache, in which a program that was built here has its
// modules.
package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("name one program")
	}
	info, err := buildinfo.ReadFile(args[0])
	if err != nil {
		return fmt.Errorf("read what %s is made of: %w; is it a Go program?", args[0], err)
	}
	dirs, err := dirsOf(ctx, info)
	if err != nil {
		return err
	}
	encoder := cdx.NewBOMEncoder(out, cdx.BOMFileFormatJSON).SetPretty(true)
	if err := encoder.EncodeVersion(bill(info, dirs), cdx.SpecVersion1_6); err != nil {
		return fmt.Errorf("write the bill: %w", err)
	}
	return nil
}
