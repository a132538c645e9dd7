package llm

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// newTransport returns the connection pool of one endpoint. The gate bounds the calls; the pool's own bound is there for
// the day when it does not. All its connections are kept, since each reconnect costs a TLS handshake within the first
// token's time.
func newTransport(cfg Config, connect time.Duration) *http.Transport {
	conns := cfg.MaxConns
	if conns == 0 {
		conns = 256
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
		MaxConnsPerHost:        conns,
		MaxIdleConnsPerHost:    conns,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    connect,
		DisableCompression:     true, // a decompressor holds tokens back
		MaxResponseHeaderBytes: 256 << 10,
	}
}

type dialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

// limitDial bounds a dial by itself: the transport lets it outlive the request it was begun for. The request's watch is
// told, as the transport's own trace tells it only of TCP.
func limitDial(dial dialFunc, limit time.Duration) dialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if w, ok := ctx.Value(watchKey{}).(*watch); ok {
			w.dialling()
		}
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, &dialError{err: err, late: errors.Is(ctx.Err(), context.DeadlineExceeded)}
		}
		return conn, nil
	}
}
