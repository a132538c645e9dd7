package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

// maxAnswer bounds an answer that is not streamed, and a line of one that is.
const maxAnswer = 8 << 20

// whole reads an answer that is not streamed to its end, so that the upstream call is over before langchaingo sees it.
func (d *doer) whole(k *call, resp *http.Response, w *watch) (*http.Response, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	_ = resp.Body.Close()
	check := checkWhole
	if k.check != nil {
		check = k.check
	}
	fail := check(body)
	switch {
	case err != nil:
		fail = w.blame(err)
		if fail.Kind == Unavailable && errors.Is(err, io.ErrUnexpectedEOF) {
			fail.Kind = Truncated
		}
	case len(body) > maxAnswer:
		fail = &Error{Kind: Malformed, Err: errTooLarge}
	}
	if fail != nil {
		fail.RequestID = requestID(resp.Header)
		return nil, d.failed(k, fail)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// checkWhole finds what langchaingo would take for an answer or would stumble over.
func checkWhole(body []byte) *Error {
	var answer struct {
		fault
		Choices []*struct {
			Message *struct{} `json:"message"`
			Finish  string    `json:"finish_reason"`
		} `json:"choices"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return &Error{Kind: Malformed, Err: errNotJSON}
	}
	if code, ok := answer.code(); ok && (len(answer.Choices) == 0 || !isNull(answer.Error)) {
		return &Error{Kind: Malformed, Code: code, Err: errInStream}
	}
	if len(answer.Choices) == 0 {
		return &Error{Kind: Empty}
	}
	for _, choice := range answer.Choices {
		switch {
		case choice == nil || choice.Message == nil:
			return &Error{Kind: Malformed, Err: errNotJSON}
		case choice.Finish == "function_call":
			return &Error{Kind: Malformed, Err: errFunction}
		}
	}
	return nil
}
