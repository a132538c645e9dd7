package cache

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// None stands for a part of a Scope on which a value does not depend. It has to be said:
// an empty part is refused.
const None = "-"

// Scope is what every kept value depends on besides what was asked. What was made for one
// scope is never given for another.
type Scope struct {
	Tenant    string
	Model     string // who made it: models or route by name
	Prompt    string // version of the prompts, and of the tools that they offer
	Knowledge string // version of the knowledge
}

// Key names a value. Only Scope.Key makes one; the zero Key names nothing and is kept by
// no cache.
type Key struct {
	name string
}

// Key returns the key of what was asked within the scope: the same parts in the same order
// give the same key in every process, and no others do. An error names an empty part of
// the scope.
func (s Scope) Key(asked ...string) (Key, error) {
	sum := sha256.New()
	write := func(part string) {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		sum.Write(size[:])
		sum.Write([]byte(part))
	}
	for _, part := range []struct{ name, value string }{
		{"Tenant", s.Tenant}, {"Model", s.Model}, {"Prompt", s.Prompt}, {"Knowledge", s.Knowledge},
	} {
		if part.value == "" {
			return Key{}, fmt.Errorf("cache key: %s is empty", part.name)
		}
		write(part.value)
	}
	for _, part := range asked {
		write(part)
	}
	return Key{s.Tenant + "." + hex.EncodeToString(sum.Sum(nil)[:16])}, nil
}

// String returns the key as two tokens, "<tenant>.<hash>": the name of the value outside
// this process too.
func (k Key) String() string { return k.name }
