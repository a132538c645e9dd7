package llm

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// newTransport returns the connection pool of one vendor. The gate bounds the calls, so the pool does not; it keeps as
// many idle connections as there are permits, since each reconnect costs a TLS handshake within the first token's time.
func newTransport(cfg Config, connect time.Duration) *http.Transport {
	idle := cfg.MaxConns
	if idle == 0 {
		idle = 256
	}
	dial, proxy := cfg.Dial, http.ProxyFromEnvironment
	if dial == nil {
		dial = (&net.Dialer{KeepAlive: 15 * time.Second}).DialContext
	} else {
		proxy = nil
	}
	return &http.Transport{
		Proxy:                  proxy,
		DialContext:            limitDial(dial, connect),
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 5 * time.Second},
		MaxIdleConnsPerHost:    idle,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    connect,
		DisableCompression:     true, // a decompressor holds tokens back
		MaxResponseHeaderBytes: 256 << 10,
	}
}

type dialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

// limitDial bounds a dial by itself: the transport lets it outlive the request it was begun for.
func limitDial(dial dialFunc, limit time.Duration) dialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, &dialError{err: err, late: errors.Is(ctx.Err(), context.DeadlineExceeded)}
		}
		return conn, nil
	}
}
