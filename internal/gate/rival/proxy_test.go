//go:build linux

package rival

import (
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"testing"
)

const proxyRole = "proxy"

// startProxy runs the plain design before a vendor: a reverse proxy of the standard
// library, and a channel that holds the permits.
func startProxy(t testing.TB, vendor string) (c *child, base string) {
	t.Helper()
	c, urls := play(t, proxyRole, vendorKey+"="+vendor)
	return c, urls[0]
}

// playProxy serves until it is killed.
func playProxy() error {
	vendor, err := url.Parse(os.Getenv(vendorKey))
	if err != nil {
		return err
	}
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: vendor.Scheme, Host: vendor.Host}) },
		// The default keeps two connections, and would dial for nearly every call.
		Transport: &http.Transport{MaxIdleConnsPerHost: limit, DisableCompression: true},
	}
	permits := make(chan struct{}, limit)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case permits <- struct{}{}:
		case <-r.Context().Done():
			return
		}
		defer func() { <-permits }()
		// Else the server closes the request's body as the answer begins, and a transport
		// that looks at the body once more just then cuts the answer off: on a busy machine
		// one in some thousand streams.
		_ = http.NewResponseController(w).EnableFullDuplex() // of HTTP/1.1 it never fails
		proxy.ServeHTTP(w, r)
	})
	if err := listening("http://" + front.Addr().String() + vendor.Path); err != nil {
		return err
	}
	return http.Serve(front, handler)
}
