package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// BatchReceipt is the answer to an accepted batch.
type BatchReceipt struct {
	BatchID string `json:"batch_id"`
	Total   int    `json:"total" doc:"its lines"`
}

// BatchItems is the one-document form of a batch.
type BatchItems struct {
	Items []BatchItem `json:"items" minItems:"1" maxItems:"100000" nullable:"false"`
}

type batchInput struct {
	Key string `header:"Idempotency-Key" maxLength:"255" doc:"the same key and lines within 24 hours: the same batch"`
}

type batchOutput struct {
	Status   int
	Location string `header:"Location"`
	Body     BatchReceipt
}

func (a *API) registerBatches(api huma.API) {
	schemas := api.OpenAPI().Components.Schemas
	items := schemas.Schema(reflect.TypeFor[BatchItems](), true, "BatchItems")
	line := schemas.Schema(reflect.TypeFor[BatchItem](), true, "BatchItem")
	operate(api, huma.Operation{
		OperationID: "submit-batch", Method: http.MethodPost, Path: "/v1/batches", Tags: []string{"batches"},
		Summary: "Hand in many messages at once",
		Description: "A ticket a line, or one document with `items`: up to 100,000 of them and 64 MiB, read while they come. A line that is not valid " +
			"refuses the whole batch, with the line of each fault (the first 100). A batch waits in lane `batch` for what nobody waits for; " +
			"there `session_id` is only a label, and the ticket alone has the reply.",
		DefaultStatus: http.StatusAccepted,
		Security:      []map[string][]string{{byTenantKey: {}}},
		Middlewares:   huma.Middlewares{a.keyed, withBatch},
	}, []int{400, 401, 408, 409, 413, 415, 429, 503}, a.submitBatch)
	// Documented afterwards: what the library knows a schema of it reads by itself, whole.
	post := api.OpenAPI().Paths["/v1/batches"].Post
	post.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		mediaNDJSON: {Schema: line}, "application/json": {Schema: items},
	}}
	responses := post.Responses
	responses["202"].Description = "Accepted"
	responses["200"] = &huma.Response{
		Description: "The same batch as before", Headers: responses["202"].Headers, Content: responses["202"].Content,
	}
	a.registerBatch(api)
}

// withBatch hands the operation the request itself, whose body it reads line by line.
func withBatch(ctx huma.Context, next func(huma.Context)) {
	c := humaecho.Unwrap(ctx)
	r := c.Request()
	if r.ContentLength > maxBatch {
		refuse(ctx, errTooLarge(maxBatch))
		return
	}
	body := patient{r.Body, http.NewResponseController(c.Response())}
	r.Body = http.MaxBytesReader(nil, timely{body, time.Now().Add(uploadTimeout)}, maxBatch)
	next(huma.WithValue(ctx, requestKey{}, r))
}

// timely ends a body that takes too long as a whole.
type timely struct {
	io.ReadCloser
	until time.Time
}

func (t timely) Read(b []byte) (int, error) {
	if time.Now().After(t.until) {
		return 0, os.ErrDeadlineExceeded
	}
	return t.ReadCloser.Read(b)
}

func (a *API) submitBatch(ctx context.Context, in *batchInput) (*batchOutput, error) {
	if in.Key != "" {
		if err := checkKey(in.Key); err != nil {
			return nil, err
		}
	}
	r, _ := ctx.Value(requestKey{}).(*http.Request)
	switch r.Header.Get("Content-Type") {
	case mediaNDJSON, "application/json", "application/ndjson", "application/jsonl":
	default:
		return nil, &chat.Error{Kind: chat.Invalid, Code: codeMediaType, Detail: "the body must be " + mediaNDJSON + " or application/json"}
	}
	if err := a.batches.enter(); err != nil {
		return nil, err
	}
	defer a.batches.leave()
	up := newUpload(a.deps.Queue, callerOf(ctx), a.deps.Rules().Lanes)
	b, dup, err := a.acceptBatch(ctx, in.Key, up, r.Body)
	if err != nil || dup {
		a.dropSpool(ctx, up)
	}
	if err != nil {
		return nil, err
	}
	out := &batchOutput{
		Status: http.StatusAccepted, Location: "/v1/batches/" + b.ID, Body: BatchReceipt{BatchID: b.ID, Total: b.Total},
	}
	if dup {
		out.Status = http.StatusOK
	}
	a.batches.wake()
	return out, nil
}

// acceptBatch reads the lines and makes the batch durable.
func (a *API) acceptBatch(ctx context.Context, key string, up *upload, body io.Reader) (queue.Batch, bool, error) {
	if err := up.read(ctx, body); err != nil {
		return queue.Batch{}, false, err
	}
	ctx, cancel := context.WithTimeout(ctx, acceptTimeout)
	defer cancel()
	now := time.Now().UTC()
	b := queue.Batch{
		ID: chat.NewBatchID(), Tenant: up.tenant.Name, Total: up.total, Spool: up.spool,
		CreatedAt: now, Deadline: now.Add(a.deps.Rules().Lanes[chat.Batch].MaxWait),
	}
	var claim queue.Claim
	if key != "" {
		claim = queue.Claim{Key: "batch " + key, Body: up.hash()}
	}
	b, dup, err := a.deps.Queue.AcceptBatch(ctx, b, claim)
	if err != nil {
		return b, false, spoolRefusal(err)
	}
	return b, dup, nil
}

// dropSpool removes what was spooled of a batch that is not taken. What it leaves a sweep
// removes.
func (a *API) dropSpool(ctx context.Context, up *upload) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), acceptTimeout)
	defer cancel()
	if err := a.deps.Queue.DropBatch(ctx, up.spool); err != nil {
		a.deps.Log.Warn().Err(err).Str("stage", "api").Msg("lines of a batch that was not taken stay until a sweep")
	}
}

// findBatch reads a tenant's batch; another tenant's is not found.
func (a *API) findBatch(ctx context.Context, tenant, id string) (queue.Batch, error) {
	if !chat.IsBatchID(id) {
		return queue.Batch{}, notFound("batch")
	}
	b, err := a.deps.Queue.Batch(ctx, id)
	switch {
	case errors.Is(err, queue.ErrNotFound), err == nil && b.Tenant != tenant:
		return queue.Batch{}, notFound("batch")
	case err != nil:
		return b, unavailable(err)
	}
	return b, nil
}
