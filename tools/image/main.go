// Command image writes a container image of sandkeeper without a container engine: an OCI layout with one image for
// each program that it is given, and an index of them. The same programs give the same bytes, and so the same digest.
//
//	image -to FOLDER [-version V] [-revision COMMIT] [-time SECONDS] [-most BYTES] PROGRAM...
//
// An image holds the program and the certificates of public authorities, those of the pinned module of x/crypto, and
// nothing else. FOLDER.tar is the same as one file, for `ctr images import` and `podman load`.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// settings are what the image says of itself, and what it may weigh.
type settings struct {
	to, version, revision string
	at                    time.Time
	most                  int64
}

func run(args []string, out io.Writer) error {
	s := settings{}
	var seconds int64
	f := flag.NewFlagSet("image", flag.ContinueOnError)
	f.StringVar(&s.to, "to", "", "folder of the OCI layout; what is in it is replaced")
	f.StringVar(&s.version, "version", "", "version that the image says it has")
	f.StringVar(&s.revision, "revision", "", "commit that it is built from")
	f.Int64Var(&seconds, "time", 0, "time of the files, in seconds since 1970: that of the commit")
	f.Int64Var(&s.most, "most", 0, "fail if an image is larger than this, compressed; 0: any size")
	if err := f.Parse(args); err != nil {
		return err
	}
	if s.to == "" || f.NArg() == 0 {
		return errors.New("say where to (-to FOLDER), and name a program for each platform")
	}
	s.at = time.Unix(seconds, 0).UTC()
	made, err := build(s, f.Args())
	if err != nil {
		return err
	}
	return made.tell(out, s.most)
}
