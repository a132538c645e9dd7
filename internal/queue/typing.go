package queue

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"

	"sluice/internal/chat"
)

// SendTyping tells whoever listens to a session now that somebody writes in it.
func (q *Queue) SendTyping(tenant, session string, t chat.Typing) error {
	body, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("encode typing: %w", err)
	}
	if err := q.nc.Publish(typingSubject(tenant, session), body); err != nil {
		return fmt.Errorf("send typing: %w", err)
	}
	return nil
}

// Typings gives every sign of typing to visit until the returned stop is called; one
// subscription serves all sockets of a node. visit must not block.
func (q *Queue) Typings(visit func(tenant, session string, t chat.Typing)) (stop func(), err error) {
	return q.subscribe("typing.*.*", func(msg *nats.Msg) {
		part := strings.Split(msg.Subject, ".")
		var t chat.Typing
		if err := json.Unmarshal(msg.Data, &t); err == nil {
			visit(part[1], part[2], t)
		}
	})
}
