// Checks what Reckon writes for transparency logs with golang.org/x/mod/sumdb, which knows nothing of Reckon. Reads one JSON document
// from standard input and says on standard output what does not hold, a line each; nothing where all of it does.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type inclusion struct {
	Index, Size int64
	Leaf, Root  tlog.Hash
	Proof       []tlog.Hash
}

type consistency struct {
	From, To         int64
	FromRoot, ToRoot tlog.Hash
	Proof            []tlog.Hash
}

type document struct {
	Vkey, Note, Text string
	// Notes that must not open.
	BadNotes []string
	// Texts of leaves with the hash of each.
	Leaves []struct {
		Text string
		Hash tlog.Hash
	}
	Inclusion   []inclusion
	Consistency []consistency
	// Proofs that must not hold.
	BadInclusion   []inclusion
	BadConsistency []consistency
	// Contents of tiles by their path.
	Tiles map[string][]byte
	Size  int64
	Root  tlog.Hash
}

// tiles serves a log's tiles to x/mod, whose paths have the height of a tile after "tile/".
type tiles map[string][]byte

func (t tiles) Height() int                         { return 8 }
func (t tiles) SaveTiles(_ []tlog.Tile, _ [][]byte) {}
func (t tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	var found [][]byte
	for _, tile := range wanted {
		path := "tile/" + strings.TrimPrefix(tile.Path(), "tile/8/")
		content, ok := t[path]
		if !ok {
			return nil, fmt.Errorf("no %s", path)
		}
		found = append(found, content)
	}
	return found, nil
}

func wrong(format string, args ...any) { fmt.Printf(format+"\n", args...) }

func main() {
	var d document
	if err := json.NewDecoder(os.Stdin).Decode(&d); err != nil {
		wrong("the document: %v", err)
		return
	}
	notes(d)
	proofs(d)
	fromTiles(d)
}

func notes(d document) {
	verifier, err := note.NewVerifier(d.Vkey)
	if err != nil {
		wrong("vkey: %v", err)
		return
	}
	opened, err := note.Open([]byte(d.Note), note.VerifierList(verifier))
	if err != nil {
		wrong("note: %v", err)
	} else if opened.Text != d.Text || len(opened.Sigs) != 1 {
		wrong("note: %q with %d signatures", opened.Text, len(opened.Sigs))
	}
	for i, bad := range d.BadNotes {
		if _, err := note.Open([]byte(bad), note.VerifierList(verifier)); err == nil {
			wrong("bad note %d opens", i)
		}
	}
}

func (p inclusion) check() error { return tlog.CheckRecord(p.Proof, p.Size, p.Root, p.Index, p.Leaf) }
func (p consistency) check() error {
	return tlog.CheckTree(p.Proof, p.To, p.ToRoot, p.From, p.FromRoot)
}

func proofs(d document) {
	for _, leaf := range d.Leaves {
		if tlog.RecordHash([]byte(leaf.Text)) != leaf.Hash {
			wrong("hash of leaf %q", leaf.Text)
		}
	}
	for _, p := range d.Inclusion {
		if err := p.check(); err != nil {
			wrong("inclusion of %d in %d: %v", p.Index, p.Size, err)
		}
	}
	for _, p := range d.BadInclusion {
		if p.check() == nil {
			wrong("bad inclusion of %d in %d holds", p.Index, p.Size)
		}
	}
	for _, p := range d.Consistency {
		if err := p.check(); err != nil {
			wrong("consistency of %d with %d: %v", p.From, p.To, err)
		}
	}
	for _, p := range d.BadConsistency {
		if p.check() == nil {
			wrong("bad consistency of %d with %d holds", p.From, p.To)
		}
	}
}

// fromTiles makes the same proofs from the tiles, which x/mod checks against the root as it reads them.
func fromTiles(d document) {
	reader := tlog.TileHashReader(tlog.Tree{N: d.Size, Hash: d.Root}, tiles(d.Tiles))
	for _, p := range d.Inclusion {
		if p.Size != d.Size {
			continue
		}
		if made, err := tlog.ProveRecord(p.Size, p.Index, reader); err != nil || !same(made, p.Proof) {
			wrong("inclusion of %d from tiles: %v", p.Index, err)
		}
	}
	for _, p := range d.Consistency {
		if p.To != d.Size {
			continue
		}
		if made, err := tlog.ProveTree(p.To, p.From, reader); err != nil || !same(made, p.Proof) {
			wrong("consistency of %d from tiles: %v", p.From, err)
		}
	}
}

func same(a, b []tlog.Hash) bool { return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b) }
