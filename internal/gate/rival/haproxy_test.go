//go:build linux

package rival

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// haproxyConfig is HAProxy as a gate: a limit, a queue with a limit of time, and classes of
// priority by a header. It listens on a socket that it is given, and keeps the connections
// to the vendor for whoever comes next.
const haproxyConfig = `
defaults
    mode http
    http-reuse always
    timeout connect 60s
    timeout queue 60s
    timeout client 150s
    timeout server 150s
    timeout http-keep-alive 150s

frontend gate
    bind fd@3
    http-request set-priority-class int(-10) if { req.hdr(x-lane) high }
    http-request set-priority-class int(10) if { req.hdr(x-lane) batch }
    default_backend vendor

backend vendor
    server a %s maxconn %d
`

// noHAProxy is what is said where HAProxy is not installed.
const noHAProxy = "HAProxy is not installed: no figures of it (apt-get install haproxy, or make rival as root)"

// haproxyProgram returns where HAProxy is; false: nowhere.
func haproxyProgram() (string, bool) {
	for _, name := range []string{"haproxy", "/usr/sbin/haproxy"} {
		if found, err := exec.LookPath(name); err == nil {
			return found, true
		}
	}
	return "", false
}

// startHAProxy runs HAProxy before a vendor.
func startHAProxy(t testing.TB, program, vendor string) (c *child, base string) {
	t.Helper()
	to, err := url.Parse(vendor)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(file, fmt.Appendf(nil, haproxyConfig, to.Host, limit), 0o600); err != nil {
		t.Fatal(err)
	}
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = front.Close() }()
	socket, err := front.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	cmd := exec.Command(program, "-db", "-q", "-f", file)
	cmd.ExtraFiles = []*os.File{socket} // it is number 3 there
	return start(t, cmd), "http://" + front.Addr().String() + to.Path
}
