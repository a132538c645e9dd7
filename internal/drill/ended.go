package drill

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"sluice/internal/chat"
)

// looks is how many tickets are looked at at a time.
const looks = 64

// ticketOf is a ticket and whose it is.
type ticketOf struct {
	id string
	of tenant
}

// unended returns how many tickets have not come to an end although their customers have
// gone.
func (one *solo) unended(ctx context.Context, all []ticketOf) (n int, err error) {
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: looks}}
	defer client.CloseIdleConnections()
	free := make(chan struct{}, looks)
	var looking sync.WaitGroup
	var mu sync.Mutex
	for _, t := range all {
		free <- struct{}{}
		looking.Go(func() {
			defer func() { <-free }()
			ended, fault := one.hasEnded(ctx, client, t)
			mu.Lock()
			defer mu.Unlock()
			if !ended {
				n++
			}
			if fault != nil {
				err = fault
			}
		})
	}
	looking.Wait()
	return n, err
}

func (one *solo) hasEnded(ctx context.Context, client *http.Client, t ticketOf) (bool, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, one.base+"/v1/tickets/"+t.id, nil)
	if err != nil {
		return false, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+t.of.Secret)
	res, err := client.Do(req)
	if err != nil {
		return false, fmt.Errorf("read ticket %s: %w", t.id, err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil || res.StatusCode != http.StatusOK {
		return false, fmt.Errorf("read ticket %s: status %d, %w", t.id, res.StatusCode, err)
	}
	var body struct {
		Status chat.Status `json:"status"`
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		return false, fmt.Errorf("decode ticket %s: %w", t.id, err)
	}
	return body.Status.Ended(), nil
}
