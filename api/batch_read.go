package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/rules"
)

// Limits of a batch.
const (
	maxBatch       = 64 << 20 // bytes of the body
	maxLines       = 100_000
	maxLineFaults  = 100 // that one answer names; what follows is not read
	partSize       = 256 << 10
	partLines      = 500
	uploadsAtOnce  = 4
	uploadTimeout  = 5 * time.Minute // for the whole body
	spoolRetryTime = 10 * time.Second
)

// upload checks the lines of a batch while they come, and spools them in parts. It holds
// one part, and a short hash of each custom_id.
type upload struct {
	queue  *queue.Queue
	spool  string
	tenant chat.Tenant
	limits map[chat.Lane]rules.Lane

	total  int
	part   queue.Part
	size   int // bytes of part
	sum    hash.Hash
	ids    map[[16]byte]int // custom_id → its line
	faults []Fault
}

func newUpload(q *queue.Queue, tenant chat.Tenant, limits map[chat.Lane]rules.Lane) *upload {
	return &upload{
		queue: q, spool: chat.NewBatchID(), tenant: tenant, limits: limits, sum: sha256.New(), ids: map[[16]byte]int{},
	}
}

// read takes the whole body. After the first fault it spools no more, and reads on to
// find others.
func (u *upload) read(ctx context.Context, body io.Reader) error {
	lines, err := newSplitter(body)
	if err != nil {
		return brokenBatch(err)
	}
	for len(u.faults) < maxLineFaults {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		u.total++
		if u.total > maxLines {
			return chat.Bad("body", "must hold at most %d lines", maxLines)
		}
		var known *chat.Error
		var split errSplit
		switch {
		case errors.As(err, &split):
			u.fault(chat.Bad("line", "%s", split.detail))
			return u.verdict()
		case err != nil && !errors.As(err, &known):
			return brokenBatch(err)
		case err == nil:
			err = u.take(ctx, line)
		}
		if err != nil && !errors.As(err, &known) {
			return err
		}
		if err != nil {
			u.fault(err)
		}
	}
	if err := u.verdict(); err != nil {
		return err
	}
	return u.flush(ctx)
}

// brokenBatch is about a body that does not come to its end.
func brokenBatch(err error) error {
	p := problemOf(brokenBody(err))
	if p.Code == codeTooLarge {
		return errTooLarge(maxBatch)
	}
	return p
}

func (u *upload) fault(err error) {
	p := problemOf(err)
	f := Fault{Field: "line", Detail: p.Detail, Line: u.total}
	if len(p.Errors) > 0 {
		f = p.Errors[0]
		f.Field, f.Line = cut(f.Field, 200), u.total
	}
	u.faults = append(u.faults, f)
}

// verdict says what is wrong with the lines that were read, or nil.
func (u *upload) verdict() error {
	switch {
	case len(u.faults) > 0:
		detail := fmt.Sprintf("%d lines are not valid: nothing was taken", len(u.faults))
		if len(u.faults) == maxLineFaults {
			detail = fmt.Sprintf("the first %d lines that are not valid are named: nothing was taken", maxLineFaults)
		}
		p := newProblem(chat.Invalid, codeInvalid, detail)
		p.Errors = u.faults
		return p
	case u.total == 0:
		return chat.Bad("body", "must hold at least one line")
	}
	return nil
}

// take checks one line and puts it into the part.
func (u *upload) take(ctx context.Context, line []byte) error {
	item, err := readItem(line)
	if err != nil {
		return err
	}
	if _, err := item.message(u.tenant, u.limits); err != nil {
		return err
	}
	if item.CustomID != "" {
		sum := sha256.Sum256([]byte(item.CustomID))
		id := [16]byte(sum[:16])
		if before, twice := u.ids[id]; twice {
			return chat.Bad("custom_id", "is that of line %d", before)
		}
		u.ids[id] = u.total
	}
	if len(u.faults) > 0 {
		return nil
	}
	// Hashed as understood, not as sent: the two forms of one batch are the same.
	body, err := json.Marshal(item)
	if err != nil {
		return fmt.Errorf("encode line %d: %w", u.total, err)
	}
	u.sum.Write(body)
	u.sum.Write([]byte{'\n'})
	if u.size+len(body) > partSize || len(u.part.Lines) == partLines {
		if err := u.flush(ctx); err != nil {
			return err
		}
	}
	if len(u.part.Lines) == 0 {
		u.part.First = u.total
	}
	u.part.Lines = append(u.part.Lines, body)
	u.size += len(body)
	return nil
}

func (u *upload) flush(ctx context.Context) error {
	if len(u.part.Lines) == 0 {
		return nil
	}
	err := u.queue.Spool(ctx, u.spool, u.part)
	if err != nil {
		return spoolRefusal(err)
	}
	u.part, u.size = queue.Part{}, 0
	return nil
}

func (u *upload) hash() string { return hex.EncodeToString(u.sum.Sum(nil)) }

// spoolRefusal says what a failed write of a batch means to the caller: a problem, which is
// no line's fault.
func spoolRefusal(err error) error {
	switch {
	case errors.Is(err, queue.ErrStorage), errors.Is(err, queue.ErrFull):
		p := newProblem(chat.Overloaded, codeStorageFull, "there is no room for the batch now; nothing was kept")
		p.RetryAfterMS, p.cause = spoolRetryTime.Milliseconds(), err
		return p
	case errors.Is(err, queue.ErrBatches):
		p := newProblem(chat.Overloaded, codeRateLimited, "too many batches are open; try again when one has ended")
		p.RetryAfterMS, p.cause = maxRetry.Milliseconds(), err
		return p
	case errors.Is(err, queue.ErrReused):
		return problemOf(&chat.Error{
			Kind: chat.Conflict, Code: codeIdempotency, Err: err,
			Detail: "the same key was used with another body within the last 24 hours",
		})
	}
	return problemOf(unavailable(err))
}
