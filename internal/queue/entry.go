package queue

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// Why a server of a cluster cannot be entered.
var (
	ErrCreds       = errors.New("the credentials are not accepted")
	ErrAuthority   = errors.New("the file of authorities cannot be used")
	ErrVersion     = errors.New("the server is too old")
	ErrCertificate = errors.New("the server's certificate is not accepted")
)

// oldestServer is the first version of nats-server that will do.
const oldestServer = "2.12.0"

// newEnough reports whether a server's version is oldestServer or later. What follows the
// three numbers does not count: candidates and builds of others have what the release has.
func newEnough(version string) bool {
	number := func(v string) (n [3]int, ok bool) {
		_, err := fmt.Sscanf(strings.TrimPrefix(v, "v"), "%d.%d.%d", &n[0], &n[1], &n[2])
		return n, err == nil
	}
	has, known := number(version)
	needed, _ := number(oldestServer)
	for i := range has {
		if has[i] != needed[i] {
			return known && has[i] > needed[i]
		}
	}
	return known
}

func tooOld(version string) error {
	return fmt.Errorf("%w: it is nats-server %q, %s or newer is needed", ErrVersion, version, oldestServer)
}

// Fault returns what the last server that was tried has against an open connection, or
// nil where it is connected or nobody answers. ErrCreds and ErrCertificate are in it
// where they apply.
func Fault(nc *nats.Conn) error {
	if err := nc.LastError(); err != nil && !nc.IsConnected() {
		return fault(err)
	}
	return nil
}

// fault says why a server was not entered, without what differs from one try to the next:
// ports of our side, the time of day.
func fault(err error) error {
	var (
		certificate *tls.CertificateVerificationError
		dns         *net.DNSError
		op          *net.OpError
	)
	switch {
	case errors.As(err, &certificate):
		return fmt.Errorf("%w: %w", ErrCertificate, lasting(certificate.Err))
	case refuses(err):
		return fmt.Errorf("%w: %w", ErrCreds, err)
	case errors.Is(err, nats.ErrNoServers):
		return errors.New("nobody listens there") // the client's word for "connection refused"
	case errors.As(err, &dns) && !dns.IsNotFound:
		return fmt.Errorf("the name %s cannot be looked up now", dns.Name)
	case errors.As(err, &op):
		return fmt.Errorf("%s: %w", op.Op, op.Err)
	}
	return err
}

// lasting is a certificate's fault without the present time.
func lasting(err error) error {
	var invalid x509.CertificateInvalidError
	if errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil {
		return fmt.Errorf("it is valid from %s to %s", invalid.Cert.NotBefore.Format(time.RFC3339), invalid.Cert.NotAfter.Format(time.RFC3339))
	}
	return err
}

// refuses reports whether a server has turned our credentials down. The client has a
// sentinel for each case, but not all of its errors match them.
func refuses(err error) bool {
	text := strings.ToLower(err.Error())
	for _, words := range []string{
		nats.AUTHORIZATION_ERR, nats.AUTHENTICATION_EXPIRED_ERR, nats.AUTHENTICATION_REVOKED_ERR, nats.ACCOUNT_AUTHENTICATION_EXPIRED_ERR,
	} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrAuthRevoked)
}

// hostOf returns host and port of an address, without user and password.
func hostOf(addr string) string {
	u, err := url.Parse(addr)
	if err != nil {
		return "an address that cannot be read"
	}
	return u.Host
}

// onOneLine joins errors; errors.Join would begin a line for each.
func onOneLine(all []error) (joined error) {
	for _, err := range all {
		if joined == nil {
			joined = err
		} else {
			joined = fmt.Errorf("%w; %w", joined, err)
		}
	}
	return joined
}
