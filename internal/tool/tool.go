package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"sluice/internal/chat"
)

// Tool describes one service.
type Tool struct {
	Name        string            // unique; required
	Description map[string]string // for the model, by language
	URL         string            // http or https; required
	Method      string            // http.MethodGet or http.MethodPost; required
	Schema      json.RawMessage   // of the arguments: a JSON Schema of type object; required
	Key         string            // goes as a bearer token; empty: none
	Identity    bool              // only for a customer whose identity is known
	Timeout     time.Duration     // of one call; required
	SlowAfter   time.Duration     // a good call that takes longer is slow; required
	PerAnswer   int               // calls of one answer; required
	Effect      bool              // a call changes something: it is claimed for its order
	Handoff     bool              // a good call calls a person
	Confirm     bool              // the customer must have agreed to Question before
	Question    map[string]string // by language
	Done        map[string]string // what tells the customer of the effect, by language
}

// Config describes a set.
type Config struct {
	Tools     []Tool
	Transport http.RoundTripper // required; it must not follow redirects, as none does
	// Keep is how long the result of a call that only reads serves repeats of that call in
	// the same answer. 0: each call is made.
	Keep time.Duration
}

// Set is the tools in force. It is safe for concurrent use and never changed.
type Set struct {
	tools     []*known
	transport http.RoundTripper
	keys      []string // of all tools: none may show in what a model reads
	version   string
	keep      time.Duration
}

// known is a tool that is ready to be called.
type known struct {
	Tool
	url       *url.URL
	arguments *arguments
}

// New returns a set, or an error that names the tool and the field that is wrong.
func New(cfg Config) (*Set, error) {
	if cfg.Transport == nil {
		return nil, errors.New("tool config: Transport is nil")
	}
	s := &Set{transport: cfg.Transport, keep: cfg.Keep}
	for _, t := range cfg.Tools {
		k, err := know(t)
		if err != nil {
			return nil, fmt.Errorf("tool %s: %w", t.Name, err)
		}
		if s.named(t.Name) != nil {
			return nil, fmt.Errorf("tool %s: Name is not unique", t.Name)
		}
		s.tools = append(s.tools, k)
		if t.Key != "" && !slices.Contains(s.keys, t.Key) {
			s.keys = append(s.keys, t.Key)
		}
	}
	var err error
	s.version, err = version(s.tools)
	return s, err
}

func know(t Tool) (*known, error) {
	u, err := url.Parse(t.URL)
	switch {
	case t.Name == "":
		return nil, errors.New("its Name is empty")
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("its URL must be an address that begins with http:// or https://")
	case t.Method != http.MethodGet && t.Method != http.MethodPost:
		return nil, fmt.Errorf("its Method must be GET or POST, is %q", t.Method)
	case t.Timeout <= 0 || t.SlowAfter <= 0 || t.PerAnswer < 1:
		return nil, errors.New("its Timeout, SlowAfter and PerAnswer must be above 0")
	case t.Confirm && !t.Effect:
		return nil, errors.New("its Confirm needs Effect")
	}
	k := &known{Tool: t, url: u}
	k.arguments, err = newArguments(t.Schema)
	return k, err
}

// Empty reports whether there are no tools.
func (s *Set) Empty() bool { return len(s.tools) == 0 }

// Tokens returns about how many tokens the definitions have, rather too many than too few.
func (s *Set) Tokens() int {
	size := 0
	for _, t := range s.tools {
		size += len(t.Description[chat.Chinese]) + len(t.arguments.text)
	}
	return size / 3
}

func (s *Set) named(name string) *known {
	for _, t := range s.tools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Account is what the gate calls a tool's permits and breaker.
func Account(name string) string { return accountPrefix + name }

// Named returns the tool of an account of the gate; false: it is a vendor's, whose name it is.
func Named(account string) (name string, isTool bool) {
	return strings.CutPrefix(account, accountPrefix)
}

// accountPrefix has a sign that no vendor's name may hold.
const accountPrefix = "tool:"
