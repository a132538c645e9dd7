package sim

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"math"
	"net/http"
	"strings"
	"time"
	"unicode"
)

const (
	defaultDimensions = 256
	maxDimensions     = 4096
	maxInputs         = 2048
	overlapDimensions = 512
)

// inputs came as one string or as an array of strings.
type inputs []string

// UnmarshalJSON reads both forms.
func (in *inputs) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		var one string
		err := json.Unmarshal(raw, &one)
		*in = inputs{one}
		return err
	}
	return json.Unmarshal(raw, (*[]string)(in))
}

type embeddingRequest struct {
	Model          string `json:"model"`
	Input          inputs `json:"input"`
	Dimensions     int    `json:"dimensions"`
	EncodingFormat string `json:"encoding_format"`
}

func decodeEmbedding(body []byte) (embeddingRequest, error) {
	var req embeddingRequest
	if err := json.Unmarshal(body, &req); err != nil {
		return req, bad("", "the body must be an embeddings request in JSON: %s", err)
	}
	if req.Dimensions == 0 {
		req.Dimensions = defaultDimensions
	}
	switch {
	case req.Model == "":
		return req, bad("model", "must be set")
	case len(req.Input) == 0 || len(req.Input) > maxInputs:
		return req, bad("input", "must hold 1 to %d texts, has %d", maxInputs, len(req.Input))
	case req.Dimensions < 1 || req.Dimensions > maxDimensions:
		return req, bad("dimensions", "%d: must be from 1 to %d", req.Dimensions, maxDimensions)
	case len(req.Input)*req.Dimensions > maxInputs*defaultDimensions:
		return req, bad("dimensions", "%d: too many for %d texts", req.Dimensions, len(req.Input))
	}
	return req, nil
}

type embeddingItem struct {
	Object    string `json:"object"`
	Index     int    `json:"index"`
	Embedding any    `json:"embedding"` // numbers, or base64 of little-endian float32
}

// embeddings answers one embeddings request, at the time of a first token.
func (v *Vendor) embeddings(c *call) {
	req, err := decodeEmbedding(c.body)
	if err != nil {
		c.fail(invalid, http.StatusBadRequest, "invalid_request", err.Error())
		return
	}
	if v.cfg.Record {
		v.log.add(Prompt{ReceivedAt: time.Now(), Model: req.Model, Inputs: req.Input, bytes: len(c.body)})
	}
	if !c.until(c.plan.first) {
		return
	}
	ended := completed
	switch c.plan.fault {
	case faultStall:
		<-c.r.Context().Done()
		return
	case faultTruncate:
		ended = truncated
	case faultStreamError, faultGarbage:
		c.fail(failed, http.StatusInternalServerError, "server_error", "simulated failure")
		return
	}
	items := make([]embeddingItem, len(req.Input))
	tokens := 0
	for i, s := range req.Input {
		items[i] = embeddingItem{Object: "embedding", Index: i, Embedding: Embed(s, req.Dimensions)}
		if req.EncodingFormat == "base64" {
			items[i].Embedding = packed(Embed(s, req.Dimensions))
		}
		tokens += countTokens(s)
	}
	c.finish(ended, Usage{PromptTokens: tokens}, map[string]any{
		"object": "list", "model": req.Model, "data": items,
		"usage": map[string]int{"prompt_tokens": tokens, "total_tokens": tokens},
	})
}

// Embed returns the vector that a simulated vendor gives a text: its words, pairs and triples
// of characters, hashed into a vector of length 1 (or 0, for a text without letters and
// digits). Texts that share wording are near. It knows no meaning: what is measured with it
// shows that vectors arrive, and nothing of what a real model would find.
func Embed(s string, dimensions int) []float32 {
	sum := make([]float64, dimensions)
	add := func(feature string, weight float64) {
		h := fnv.New64a()
		_, _ = h.Write([]byte(feature)) // a hash never fails
		x := h.Sum64()
		if x>>63 == 1 {
			weight = -weight // signs let collisions cancel out on average
		}
		sum[x%uint64(dimensions)] += weight
	}
	for _, word := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		runes := []rune(word)
		add("="+word, 1)
		for n := 1; n <= 3; n++ {
			if n == 1 && !unicode.Is(unicode.Han, runes[0]) {
				continue // a single Latin letter says nothing
			}
			for i := 0; i+n <= len(runes); i++ {
				add(string(runes[i:i+n]), float64(n)/3)
			}
		}
	}
	norm := 0.0
	for _, x := range sum {
		norm += x * x
	}
	out := make([]float32, dimensions)
	if norm == 0 {
		return out
	}
	for i, x := range sum {
		out[i] = float32(x / math.Sqrt(norm))
	}
	return out
}

func dot(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func packed(vector []float32) string {
	raw := make([]byte, 0, 4*len(vector))
	for _, x := range vector {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(raw)
}
