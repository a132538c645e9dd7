package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"sluice/internal/chat"
	"sluice/internal/faq"
	"sluice/internal/queue"
)

// How an import deals with the own entries that there are.
const (
	importMerge   = "merge"
	importReplace = "replace"
)

type importBody struct {
	Document string `json:"document" minLength:"1" pattern:"\\S" doc:"entries in YAML, or in CSV with the columns id, lang, question, answer, and perhaps intent, priority"`
	Format   string `json:"format" enum:"yaml,csv"`
	Mode     string `json:"mode,omitempty" enum:"merge,replace" default:"merge" doc:"replace: own entries that it does not name go"`
	Shipped  *bool  `json:"shipped,omitempty" doc:"whether the shipped entries are in force too. Left out: as it is"`
	Reason   string `json:"reason" minLength:"1" maxLength:"500"`
}

type faqImportInput struct {
	Mode   string `query:"mode" enum:"merge,replace" doc:"only with a body of CSV or YAML"`
	Reason string `query:"reason" doc:"only with a body of CSV or YAML: why"`
	Body   importBody
}

func (a *API) registerFAQImport(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-import-faq", Method: http.MethodPost, Path: "faq/import", Summary: "Take over many entries at once",
		Description: "All of them or, with the line of each fault, none. Entries of an id that is there take its place. " +
			"Also as `text/csv` or `application/yaml`, with `?reason=` and perhaps `mode=`.",
		MaxBodyBytes: maxFAQBody + 2, Middlewares: huma.Middlewares{faqAsJSON},
	}, []int{400, 409, 413, 415}, a.importFAQ)
	body := api.OpenAPI().Paths[adminPath+"faq/import"].Post.RequestBody
	for _, media := range []string{"text/csv", "application/yaml"} {
		body.Content[media] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	}
}

// faqAsJSON reads the body before the library does, and puts one that is CSV or YAML into
// the JSON that it would be.
func faqAsJSON(ctx huma.Context, next func(huma.Context)) {
	c := humaecho.Unwrap(ctx)
	r := c.Request()
	format := ""
	media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	switch strings.TrimSpace(media) {
	case "text/csv":
		format = "csv"
	case "application/yaml":
		format = "yaml"
	}
	body, err := readFAQ(c.Response(), r, format != "")
	if err == nil && format != "" {
		r.Header.Set("Content-Type", "application/json")
		text := map[string]string{"document": string(body), "format": format, "reason": c.QueryParam("reason")}
		if mode := c.QueryParam("mode"); mode != "" {
			text["mode"] = mode
		}
		body, err = json.Marshal(text)
	}
	if err != nil {
		refuse(ctx, err)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	next(ctx)
}

func readFAQ(w http.ResponseWriter, r *http.Request, isText bool) ([]byte, error) {
	if isText {
		text, err := readTextUpTo(w, r, maxFAQBody/2) // half of it, as each character may have to be escaped
		if err == nil {
			err = checkDocument(text)
		}
		return text, err
	}
	body, err := readBodyUpTo(w, r, maxFAQBody)
	if err == nil {
		err = checkNames(body, reflect.TypeFor[importBody]())
	}
	return body, err
}

// checkDocument refuses a text in another encoding, with the line of its first byte that is
// no UTF-8: as JSON it would be taken in with other characters in the place of its own.
func checkDocument(text []byte) error {
	if utf8.Valid(text) {
		return nil
	}
	line, good := 1, text
	for len(good) > 0 {
		r, size := utf8.DecodeRune(good)
		if r == utf8.RuneError && size == 1 {
			break
		}
		if r == '\n' {
			line++
		}
		good = good[size:]
	}
	p := newProblem(chat.Invalid, codeInvalid, "the document must be valid UTF-8, nothing was stored")
	p.Errors = []Fault{{Field: "document", Detail: fmt.Sprintf("must be valid UTF-8, byte %d is none", len(text)-len(good)), Line: line}}
	return p
}

func (a *API) importFAQ(ctx context.Context, in *faqImportInput) (*faqChangeOutput, error) {
	read := faq.ReadYAML
	if in.Body.Format == "csv" {
		read = func(name string, text []byte) ([]faq.Entry, error) { return faq.ReadCSV(name, bytes.NewReader(text)) }
	}
	entries, err := read("document", []byte(in.Body.Document))
	if err != nil {
		return nil, faultyFAQ(err)
	}
	for _, e := range entries {
		if err := a.checkEntry(e); err != nil {
			return nil, chat.Bad("document", "entry %s: intent %q is none of the rules'", e.ID, e.Intent)
		}
	}
	audit := queue.Audit{Action: "faq.import", Target: in.Body.Mode, Reason: in.Body.Reason}
	return a.editFAQ(ctx, audit, 0, func(l faq.List) (faq.List, error) {
		if in.Body.Mode == importReplace {
			l.Entries = nil
		}
		if in.Body.Shipped != nil {
			l.Shipped, l.Without = *in.Body.Shipped, nil
		}
		return checkedTwins(l.PutAll(entries), entries)
	})
}
