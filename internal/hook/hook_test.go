package hook

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOnlyPublicAddressesAreCalled(t *testing.T) {
	t.Parallel()
	for inside := range strings.FieldsSeq(`127.0.0.1 127.8.8.8 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1
		100.100.100.200 168.63.129.16 0.0.0.0 0.1.2.3 192.0.0.8 192.0.2.1 198.18.0.1 198.51.100.7 203.0.113.9 224.0.0.1 240.0.0.1
		255.255.255.255 ::1 :: ::ffff:10.0.0.1 ::ffff:127.0.0.1 ::ffff:169.254.169.254 ::127.0.0.1 fe80::1 fe80::1%eth0 fc00::1
		fd00:ec2::254 ff02::1 64:ff9b::7f00:1 64:ff9b:1::1 2002:7f00:1:: 2001::1 2001:db8::1 fec0::1 100::1`) {
		if Public(netip.MustParseAddr(inside)) {
			t.Errorf("%s is taken for public", inside)
		}
		host := inside
		if strings.Contains(host, ":") {
			host = "[" + strings.ReplaceAll(host, "%", "%25") + "]"
		}
		if err := CheckURL("https://" + host + "/a"); !errors.Is(err, ErrPrivate) {
			t.Errorf("https://%s/a: %v", host, err)
		}
		if err := guard("tcp", net.JoinHostPort(inside, "443"), nil); !errors.Is(err, ErrPrivate) {
			t.Errorf("dial %s: %v", inside, err)
		}
	}
	for outside := range strings.FieldsSeq("8.8.8.8 1.1.1.1 172.15.0.1 172.32.0.1 100.63.0.1 100.128.0.1 ::ffff:8.8.8.8 2606:4700::1111 2400:3200::1") {
		if !Public(netip.MustParseAddr(outside)) {
			t.Errorf("%s is taken for private", outside)
		}
	}
	for url, want := range map[string]error{
		"http://localhost/": ErrPrivate, "http://LOCALHOST.:80/": ErrPrivate, "http://a.localhost/": ErrPrivate, "https://shop.example/": nil,
	} {
		if err := CheckURL(url); !errors.Is(err, want) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestARuleDecidesOverAddressesInside calls a real receiver on loopback, by address and by a
// name that is looked up, while the rule changes. A connection that is kept does not get
// around it.
func TestARuleDecidesOverAddressesInside(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write([]byte("taken"))
	}))
	defer server.Close()
	var private atomic.Bool
	s, err := NewSender(Config{Private: private.Load})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	named := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	send := func(url string) Answer {
		return s.Send(t.Context(), Message{ID: "msg_1", URL: url, Body: []byte("{}"), Secrets: []string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}}, time.Now())
	}
	for round, allowed := range []bool{false, true, false} {
		private.Store(allowed)
		for _, url := range []string{server.URL, named} {
			if a := send(url); a.Delivered() != allowed || !allowed && a.Fault != ErrPrivate.Error() {
				t.Errorf("round %d: %+v", round, a)
			}
		}
	}
	if n := calls.Load(); n != 2 {
		t.Errorf("%d calls, want 2", n)
	}
}

// TestSignatureOfThePublishedVector signs the example of the Standard Webhooks specification.
func TestSignatureOfThePublishedVector(t *testing.T) {
	t.Parallel()
	s, err := NewSender(Config{Private: func() bool { return false }})
	if err != nil {
		t.Fatal(err)
	}
	req, err := s.request(t.Context(), Message{
		ID: "msg_p5jXN8AQM9LWM0D4loKWxJek", URL: "https://shop.example/", Body: []byte(`{"test": 2432232314}`),
		Secrets: []string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
	}, time.Unix(1614265330, 0))
	if err != nil {
		t.Fatal(err)
	}
	if got := req.Header.Get(standardwebhooks.HeaderWebhookSignature); got != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Errorf("signature %s", got)
	}
	if _, err := s.request(t.Context(), Message{ID: "msg_1", URL: "https://shop.example/"}, time.Now()); err == nil {
		t.Error("nothing is sent unsigned")
	}
}

func TestRetryAfterIsReadInBothForms(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "90": 90 * time.Second, "-5": 0, "soon": 0, "200000": 24 * time.Hour,
		"Sun, 01 Mar 2026 12:01:00 GMT": time.Minute, "Sun, 01 Mar 2026 11:00:00 GMT": 0,
	} {
		if got := retryAfter(text, now); got != want {
			t.Errorf("Retry-After %q: %s, want %s", text, got, want)
		}
	}
}
