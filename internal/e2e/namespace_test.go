//go:build cluster

package e2e

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// namespace is a network of its own for a process. A bridge stands between it and the
// host, as a switch does: when that goes down nothing passes, and neither side is told,
// because the links that they see stay up. Both know each other's hardware address for
// good, as behind a router: no lookup that fails tells them either.
type namespace struct {
	t      *testing.T
	name   string // also of the bridge
	host   string // address that both sides reach
	inside string // address of the process
}

// Hardware addresses of the two sides.
const (
	hostSide   = "02:00:00:00:00:01"
	insideSide = "02:00:00:00:00:02"
)

// openNamespace makes a namespace, which is removed at the end of the test, and removes
// those that killed runs left. An error is what the machine does not permit.
func openNamespace(t *testing.T) (*namespace, error) {
	t.Helper()
	removeLeftNamespaces(t)
	n := &namespace{t: t}
	var err error
	for k := range 4 { // tests that run side by side
		n.name = fmt.Sprintf("slu%dn%d", os.Getpid(), k)
		// Of the network that is set aside for tests of networks, four addresses each.
		at := (4*os.Getpid() + k) % (1 << 15) * 4
		n.host, n.inside = testAddress(at+1), testAddress(at+2)
		if err = ip("netns", "add", n.name); err == nil || !strings.Contains(err.Error(), "File exists") {
			break
		}
	}
	t.Cleanup(n.remove)
	if err != nil {
		return nil, err
	}
	for _, args := range [][]string{
		{"link", "add", n.name, "type", "bridge"},
		{"link", "add", n.name + "h", "address", hostSide, "type", "veth", "peer", "name", n.name + "p"},
		{"link", "add", n.name + "v", "type", "veth", "peer", "name", "veth", "address", insideSide, "netns", n.name},
		{"link", "set", n.name + "p", "master", n.name, "up"},
		{"link", "set", n.name + "v", "master", n.name, "up"},
		{"address", "add", n.host + "/30", "dev", n.name + "h"},
		{"link", "set", n.name + "h", "up"},
		{"neighbour", "add", n.inside, "lladdr", insideSide, "dev", n.name + "h", "nud", "permanent"},
		{"-netns", n.name, "address", "add", n.inside + "/30", "dev", "veth"},
		{"-netns", n.name, "link", "set", "veth", "up"},
		{"-netns", n.name, "neighbour", "add", n.host, "lladdr", hostSide, "dev", "veth", "nud", "permanent"},
		{"link", "set", n.name, "up"},
	} {
		if err := ip(args...); err != nil {
			return nil, err
		}
	}
	return n, nil
}

func testAddress(k int) string { return net.IPv4(198, 18+byte(k>>16), byte(k>>8), byte(k)).String() }

// command runs a program inside.
func (n *namespace) command() []string { return []string{"ip", "netns", "exec", n.name} }

// cut lets nothing pass in either direction.
func (n *namespace) cut() { n.set("down") }

// heal ends a cut.
func (n *namespace) heal() { n.set("up") }

func (n *namespace) set(state string) {
	n.t.Helper()
	if err := ip("link", "set", n.name, state); err != nil {
		n.t.Fatal(err)
	}
}

// remove removes what there is of it. With one end of a pair the other one goes.
func (n *namespace) remove() {
	for _, name := range []string{n.name + "h", n.name + "v", n.name} {
		if _, err := net.InterfaceByName(name); err == nil {
			_ = ip("link", "delete", name)
		}
	}
	_ = ip("netns", "delete", n.name)
}

var namespaceName = regexp.MustCompile(`^(slu(\d+)n\d)[hpv]?$`)

// removeLeftNamespaces removes those of runs that live no more.
func removeLeftNamespaces(t *testing.T) {
	t.Helper()
	links, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	names, _ := filepath.Glob("/run/netns/slu*") // the pattern is good
	for _, l := range links {
		names = append(names, l.Name)
	}
	for _, name := range names {
		m := namespaceName.FindStringSubmatch(filepath.Base(name))
		if m == nil {
			continue
		}
		if pid, err := strconv.Atoi(m[2]); err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			(&namespace{name: m[1]}).remove()
		}
	}
}

func ip(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
