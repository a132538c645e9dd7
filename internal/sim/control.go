package sim

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

const maxControlBody = 64 << 10

// Control serves the vendor's control port:
//
//	GET   /sim/stats      the Stats
//	GET   /sim/behaviour  the Behaviour, with defaults filled in
//	PUT   /sim/behaviour  a new one; what the body leaves out is the default
//	PATCH /sim/behaviour  changes what the body names
//	POST  /sim/reset      back to the configured behaviour, with empty statistics
//
// All answer with the Stats or the Behaviour as JSON, errors with
// application/problem+json. It has no authentication: serve it on loopback.
func (v *Vendor) Control() http.Handler { return control([]*Vendor{v}, true) }

// control steers several vendors at once. Answers are keyed by the vendors' names, unless
// single is set.
func control(vendors []*Vendor, single bool) http.Handler {
	answer := func(w http.ResponseWriter, of func(*Vendor) any) {
		if single {
			writeJSON(w, http.StatusOK, of(vendors[0]))
			return
		}
		all := make(map[string]any, len(vendors))
		for _, v := range vendors {
			all[v.Name()] = of(v)
		}
		writeJSON(w, http.StatusOK, all)
	}
	stats := func(v *Vendor) any { return v.Stats() }
	behaviour := func(v *Vendor) any { return v.Behaviour() }
	change := func(base func(Behaviour) Behaviour) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxControlBody))
			if err != nil {
				writeProblem(w, http.StatusRequestEntityTooLarge, bad("", "the body must be at most %d bytes", maxControlBody))
				return
			}
			next := func(b Behaviour) (Behaviour, error) { return merge(base(b), body) }
			for _, v := range vendors { // all or none
				if b, err := next(v.Behaviour()); err != nil {
					writeProblem(w, http.StatusBadRequest, err)
					return
				} else if err := b.Validate(); err != nil {
					writeProblem(w, http.StatusBadRequest, err)
					return
				}
			}
			for _, v := range vendors {
				if err := v.change(next); err != nil { // another change came between
					writeProblem(w, http.StatusConflict, err)
					return
				}
			}
			answer(w, behaviour)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sim/stats", func(w http.ResponseWriter, _ *http.Request) { answer(w, stats) })
	mux.HandleFunc("GET /sim/behaviour", func(w http.ResponseWriter, _ *http.Request) { answer(w, behaviour) })
	mux.HandleFunc("PUT /sim/behaviour", change(func(Behaviour) Behaviour { return Behaviour{} }))
	mux.HandleFunc("PATCH /sim/behaviour", change(func(b Behaviour) Behaviour { return b }))
	mux.HandleFunc("POST /sim/reset", func(w http.ResponseWriter, _ *http.Request) {
		for _, v := range vendors {
			v.Reset()
		}
		answer(w, stats)
	})
	return mux
}

func merge(b Behaviour, body []byte) (Behaviour, error) {
	err := json.Unmarshal(body, &b)
	var fe *FieldError
	if err != nil && !errors.As(err, &fe) {
		err = bad("", "the body must be a JSON object: %s", err)
	}
	return b, err
}

type problem struct {
	Type   string         `json:"type"`
	Title  string         `json:"title"`
	Status int            `json:"status"`
	Detail string         `json:"detail"`
	Code   string         `json:"code"`
	Errors []problemField `json:"errors,omitempty"`
}

type problemField struct {
	Field  string `json:"field"`
	Detail string `json:"detail"`
}

func writeProblem(w http.ResponseWriter, status int, err error) {
	p := problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status,
		Detail: err.Error(), Code: "invalid_behaviour",
	}
	var fe *FieldError
	if errors.As(err, &fe) && fe.Field != "" {
		p.Errors = []problemField{{Field: fe.Field, Detail: fe.Detail}}
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(p) // the client may have left
}
