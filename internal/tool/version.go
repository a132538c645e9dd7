package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// version is a name for what the set offers to a model: sets of one version have the same
// tools under the same names, with the same descriptions and arguments.
func version(tools []*known) (string, error) {
	type offered struct {
		Name        string
		Description map[string]string
		Schema      json.RawMessage
		Identity    bool
	}
	all := []offered{}
	for _, t := range tools {
		all = append(all, offered{t.Name, t.Description, t.Schema, t.Identity})
	}
	text, err := json.Marshal(all)
	if err != nil {
		return "", fmt.Errorf("tool config: encode the tools: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8]), nil
}

// Version names what the set offers to a model. It is the same in every process with the
// same rules.
func (s *Set) Version() string { return s.version }
