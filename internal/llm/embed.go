package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Embedding asks for the vectors of texts.
type Embedding struct {
	Model      string // as the vendor calls it
	Texts      []string
	Dimensions int // of each vector; 0: as many as the model gives
}

// Embedded is what a vendor made of an Embedding.
type Embedded struct {
	Vectors [][]float32 // one for each text, in the order of the texts
	Tokens  int         // that were billed; 0: the vendor did not say
}

var (
	errVectorCount = errors.New("not one vector for each text")
	errVectorSize  = errors.New("vectors of other dimensions than asked for")
)

// Embed asks for vectors at the vendor's /embeddings. It is bounded by Timeouts.Call, and
// ends as GenerateContent does: the body is read to its end or closed, the error is an
// *Error or context.Cause(ctx), and what comes back is whole: langchaingo's own client
// trusts the order of the answer and drops the usage, so this request is ours.
func (c *Client) Embed(ctx context.Context, e Embedding) (Embedded, error) {
	if ctx.Err() != nil {
		return Embedded{}, context.Cause(ctx)
	}
	k := &call{check: checkEmbedding}
	got, err := c.embed(withCall(ctx, k), e)
	switch fail := k.failure(); {
	case ctx.Err() != nil:
		return Embedded{}, context.Cause(ctx)
	case fail != nil:
		return Embedded{}, fail
	}
	return got, err
}

func (c *Client) embed(ctx context.Context, e Embedding) (Embedded, error) {
	body, err := json.Marshal(map[string]any{"model": e.Model, "input": e.Texts, "encoding_format": "float"})
	if e.Dimensions > 0 && err == nil {
		body, err = patch(body, map[string]json.RawMessage{"dimensions": json.RawMessage(fmt.Sprint(e.Dimensions))})
	}
	if err != nil {
		return Embedded{}, &Error{Vendor: c.vendor, Kind: Rejected, Err: fmt.Errorf("build request: %w", err)}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint+"/embeddings", bytes.NewReader(body))
	if err != nil {
		return Embedded{}, &Error{Vendor: c.vendor, Kind: Rejected, Err: fmt.Errorf("build request: %w", err)}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.doer.key)
	resp, err := c.doer.Do(req)
	if err != nil {
		return Embedded{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body) // bounded and complete: the doer has read it
	if err != nil {
		return Embedded{}, &Error{Vendor: c.vendor, Kind: Truncated}
	}
	got, err := readEmbedding(raw, e)
	if err != nil {
		return Embedded{}, &Error{Vendor: c.vendor, Kind: Malformed, Err: err}
	}
	return got, nil
}

// embedding is the answer of a vendor.
type embedding struct {
	fault
	Data []struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
	Usage struct {
		Prompt int `json:"prompt_tokens"`
		Total  int `json:"total_tokens"`
	} `json:"usage"`
}

// checkEmbedding finds a fault that comes under status 200, and what is no answer.
func checkEmbedding(body []byte) *Error {
	var answer struct {
		fault
		Data []json.RawMessage `json:"data"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return &Error{Kind: Malformed, Err: errNotJSON}
	}
	if code, ok := answer.code(); ok && (len(answer.Data) == 0 || !isNull(answer.Error)) {
		return &Error{Kind: Malformed, Code: code, Err: errInStream}
	}
	if len(answer.Data) == 0 {
		return &Error{Kind: Empty}
	}
	return nil
}

// readEmbedding puts the vectors in the order of the texts: not every server keeps it.
func readEmbedding(raw []byte, e Embedding) (Embedded, error) {
	var answer embedding
	if json.Unmarshal(raw, &answer) != nil {
		return Embedded{}, errNotJSON
	}
	if len(answer.Data) != len(e.Texts) {
		return Embedded{}, errVectorCount
	}
	got := Embedded{Vectors: make([][]float32, len(e.Texts)), Tokens: max(answer.Usage.Prompt, answer.Usage.Total)}
	size := e.Dimensions
	for _, one := range answer.Data {
		if one.Index < 0 || one.Index >= len(got.Vectors) || got.Vectors[one.Index] != nil {
			return Embedded{}, errVectorCount
		}
		if size == 0 {
			size = len(one.Embedding)
		}
		if len(one.Embedding) != size || size == 0 {
			return Embedded{}, errVectorSize
		}
		got.Vectors[one.Index] = one.Embedding
	}
	return got, nil
}
