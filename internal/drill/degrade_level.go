package drill

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// levelEvery is how often the level is looked at.
const levelEvery = 200 * time.Millisecond

// levelAt is the highest level that any ticket felt at an instant.
type levelAt struct {
	at    time.Time
	level int
}

// watchLevels looks at the level as an operator does, until the returned func is called:
// it returns what was seen.
func (d *drill) watchLevels(ctx context.Context, one *solo) (stop func() ([]levelAt, error), err error) {
	client := &http.Client{Timeout: 5 * time.Second}
	cookie, err := one.logIn(ctx, client)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var seen []levelAt
	var fault error
	var watching sync.WaitGroup
	watching.Go(func() {
		for sleep(ctx, levelEvery) == nil {
			level, err := one.level(ctx, client, cookie)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				fault = err
				continue
			}
			seen = append(seen, levelAt{time.Now(), level})
		}
	})
	end := sync.OnceFunc(func() { cancel(); watching.Wait() })
	d.own(end)
	return func() ([]levelAt, error) {
		end()
		if len(seen) == 0 && fault != nil {
			return nil, fault
		}
		return seen, nil
	}, nil
}

// logIn opens a session of the private instance's operator.
func (s *solo) logIn(ctx context.Context, client *http.Client) (*http.Cookie, error) {
	body, err := json.Marshal(map[string]string{"user": "admin", "password": adminPassword})
	if err != nil {
		return nil, fmt.Errorf("encode login: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+"/admin/api/login", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("log in: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	if cookies := res.Cookies(); res.StatusCode < 300 && len(cookies) > 0 {
		return cookies[0], nil
	}
	return nil, fmt.Errorf("log in: status %d", res.StatusCode)
}

// level reads the highest level in force.
func (s *solo) level(ctx context.Context, client *http.Client, cookie *http.Cookie) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/admin/api/overview", nil)
	if err != nil {
		return 0, fmt.Errorf("make request: %w", err)
	}
	req.AddCookie(cookie)
	res, err := client.Do(req)
	if err != nil {
		return 0, fmt.Errorf("look at the level: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	var overview struct {
		Level int `json:"level"`
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&overview); err != nil || res.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("look at the level: status %d: %w", res.StatusCode, err)
	}
	return overview.Level, nil
}
