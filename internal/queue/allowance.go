package queue

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// How many text messages of a day went out, or are promised, is counted by day, in UTC, and
// kept for keepTexts.
const keepTexts = (heldDays + 2) * 24 * time.Hour

// A count knows the last maxCounted messages that it counted, so that none is counted twice:
// a tenant would have to be promised more than that before the first of them goes out.
const (
	maxCounted = 16_384
	countMark  = 8 // bytes of a message's hash
)

// numberKey stands for a phone number, which is stored nowhere but in the outbox.
func numberKey(phone string) string {
	sum := sha256.Sum256([]byte("phone number " + phone))
	return hex.EncodeToString(sum[:16])
}

func textDay(now time.Time) string { return now.UTC().Format("20060102") }

func numberCount(phone string, now time.Time) string {
	return "number." + textDay(now) + "." + numberKey(phone)
}

func tenantCount(tenant string, now time.Time) string { return "tenant." + textDay(now) + "." + tenant }

// MayText reports whether a text message to a number might go out at an instant: its
// customer wants some, and neither cap is reached on that day. It counts nothing.
func (q *Queue) MayText(ctx context.Context, tenant, phone string, caps chat.TextCaps, now time.Time) (bool, error) {
	wanted, err := q.wanted(ctx, phone)
	if err != nil || !wanted {
		return false, err
	}
	number, _, err := q.textCount(ctx, numberCount(phone, now))
	if err != nil || number.n >= caps.PerNumber {
		return false, err
	}
	all, _, err := q.textCount(ctx, tenantCount(tenant, now))
	return all.n < caps.PerTenant, err
}

// Allow counts a notice for its number and its tenant, once, however often it is asked; what
// was promised has been counted then, and goes out whatever the caps are by now. Otherwise
// it says why the notice must not go out.
func (o *Outbox) Allow(ctx context.Context, n chat.Notice, caps chat.TextCaps, now time.Time) (fault string, err error) {
	q := o.queue
	wanted, err := q.wanted(ctx, n.Phone)
	if err != nil {
		return "", err
	}
	if !wanted {
		return chat.FaultSuppressed, nil
	}
	if in, err := q.countText(ctx, NoticeCount, numberCount(n.Phone, now), n.Mark(), caps.PerNumber); err != nil || !in {
		return chat.FaultNumberCap, err
	}
	if in, err := q.countText(ctx, NoticeCount, tenantCount(n.Tenant, now), n.Mark(), caps.PerTenant); err != nil || !in {
		return chat.FaultTenantCap, err
	}
	return "", nil
}

// tally is a count with the marks of what it counted last.
type tally struct {
	n     int
	marks []byte // the newest last
}

// holds reports whether a message was counted.
func (t *tally) holds(mark []byte) bool {
	for m := range slices.Chunk(t.marks, countMark) {
		if string(m) == string(mark) {
			return true
		}
	}
	return false
}

func (t *tally) add(mark []byte) {
	t.n++
	t.marks = append(t.marks, mark...)
	t.marks = t.marks[max(0, len(t.marks)-maxCounted*countMark):]
}

// remove takes a message out of a count that knows it, and reports whether it did.
func (t *tally) remove(mark []byte) bool {
	for i := 0; i < len(t.marks); i += countMark {
		if string(t.marks[i:i+countMark]) == string(mark) {
			t.n, t.marks = t.n-1, slices.Delete(t.marks, i, i+countMark)
			return true
		}
	}
	return false
}

func countedAs(id string) []byte {
	sum := sha256.Sum256([]byte(id))
	return sum[:countMark]
}

// countText counts a message under a key, unless it has been or the cap is reached: then
// false.
func (q *Queue) countText(ctx context.Context, p Point, key, id string, most int) (in bool, err error) {
	mark := countedAs(id)
	err = q.changeCount(ctx, p, key, id, func(t *tally) bool {
		known := t.holds(mark)
		if in = known || t.n < most; known || !in {
			return false
		}
		t.add(mark)
		return true
	})
	return in, err
}

// changeCount applies change to a count, again after meeting another writer; change says
// whether it changed anything. Of one process one goroutine at a time writes a count, so
// that a burst of promises does not meet itself.
func (q *Queue) changeCount(ctx context.Context, p Point, key, id string, change func(*tally) bool) error {
	leave, err := q.counting.enter(ctx, key)
	if err != nil {
		return fmt.Errorf("count a text message: %w", err)
	}
	defer leave()
	for range appendTries {
		t, rev, err := q.textCount(ctx, key)
		if err != nil {
			return err
		}
		if !change(&t) {
			return nil
		}
		if err := q.before(p, id); err != nil {
			return err
		}
		body := append(binary.BigEndian.AppendUint64(nil, uint64(t.n)), t.marks...)
		err = decided(ctx, func() error {
			_, err := q.js.Publish(ctx, bucketSubject(textBucket, key), body, jetstream.WithExpectLastSequencePerSubject(rev))
			return err
		})
		if err == nil {
			return nil
		}
		if !outpaced(err) {
			return refusal("count a text message", err)
		}
	}
	return fmt.Errorf("count a text message: met another writer %d times", appendTries)
}

// textCount reads a count; rev 0: there is none yet.
func (q *Queue) textCount(ctx context.Context, key string) (t tally, rev uint64, err error) {
	entry, err := q.texts.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return t, 0, nil
	}
	if err != nil {
		return t, 0, fmt.Errorf("read a count of text messages: %w", err)
	}
	body := entry.Value()
	if len(body) < 8 || len(body)%countMark != 0 {
		return t, 0, errors.New("read a count of text messages: it is damaged")
	}
	return tally{n: int(binary.BigEndian.Uint64(body)), marks: slices.Clone(body[8:])}, entry.Revision(), nil
}
