package main

import (
	"fmt"
	"strings"
)

// roles is what a process does. The zero value is none.
type roles struct{ api, dispatcher, recorder bool }

// parseRoles reads a comma list; empty: every role.
func parseRoles(list string) (roles, error) {
	if list == "" {
		return roles{api: true, dispatcher: true, recorder: true}, nil
	}
	var r roles
	for name := range strings.SplitSeq(list, ",") {
		switch strings.TrimSpace(name) {
		case "api":
			r.api = true
		case "dispatcher":
			r.dispatcher = true
		case "recorder":
			r.recorder = true
		default:
			return r, fmt.Errorf("SLUICE_ROLES: %q is none of api, dispatcher, recorder", name)
		}
	}
	return r, nil
}

// all reports whether the process does everything.
func (r roles) all() bool { return r.api && r.dispatcher && r.recorder }

// database reports whether the process needs the ledger: to write it, or to read history.
func (r roles) database() bool { return r.api || r.recorder }

func (r roles) String() string {
	var names []string
	for _, role := range []struct {
		name string
		does bool
	}{{"api", r.api}, {"dispatcher", r.dispatcher}, {"recorder", r.recorder}} {
		if role.does {
			names = append(names, role.name)
		}
	}
	return strings.Join(names, ", ")
}
