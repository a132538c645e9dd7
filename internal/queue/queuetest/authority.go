package queuetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority signs certificates of servers.
type Authority struct {
	t    testing.TB
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	File string // its own certificate, as PEM
}

// NewAuthority makes an authority that nobody knows yet.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{t: t, key: newKey(t), File: filepath.Join(t.TempDir(), "ca.pem")}
	a.cert = a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "authority of a test"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotAfter: time.Now().Add(time.Hour),
	}, a.key)
	doc := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
	if err := os.WriteFile(a.File, doc, 0o600); err != nil {
		t.Fatal(err)
	}
	return a
}

// Issue returns a certificate for a host name that is valid until the given time.
func (a *Authority) Issue(host string, until time.Time) *tls.Certificate {
	a.t.Helper()
	key := newKey(a.t)
	cert := a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: host}, DNSNames: []string{host}, NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, key)
	return &tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key, Leaf: cert}
}

// sign fills in the rest of a certificate; without one of its own the authority signs it
// with its own name.
func (a *Authority) sign(cert *x509.Certificate, key *ecdsa.PrivateKey) *x509.Certificate {
	a.t.Helper()
	cert.SerialNumber, cert.NotBefore = big.NewInt(time.Now().UnixNano()), time.Now().Add(-2*time.Hour)
	parent := a.cert
	if parent == nil {
		parent = cert
	}
	raw, err := x509.CreateCertificate(rand.Reader, cert, parent, &key.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	signed, err := x509.ParseCertificate(raw)
	if err != nil {
		a.t.Fatal(err)
	}
	return signed
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
