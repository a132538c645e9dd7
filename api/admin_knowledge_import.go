package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"sluice/internal/chat"
	"sluice/internal/knowledge"
	"sluice/internal/queue"
)

// Bounds of one import: of its body, and of the faults that are told.
const (
	maxImport       = 512 << 20
	maxImportFaults = 100
)

// Media types of an import.
const (
	mediaNDJSON    = "application/x-ndjson"
	mediaMultipart = "multipart/form-data"
)

// ImportedDocument is a line of an import.
type ImportedDocument struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

type importInput struct {
	Reason string `query:"reason" required:"true" minLength:"1" maxLength:"500" doc:"why"`
}

type importOutput struct {
	Body struct {
		Documents int `json:"documents" doc:"that the draft has now from it"`
	}
}

func (a *API) registerImport(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-import-knowledge", Method: http.MethodPost, Path: "knowledge/import", Summary: "Put many documents into the draft",
		Description: "A document a line, or files. They are kept as they come; the draft has all of them or, after any fault, none: " +
			"400 with the line (or number of the file) of each fault.",
		Middlewares: huma.Middlewares{withRequest},
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			mediaNDJSON:    {Schema: &huma.Schema{Type: huma.TypeString}},
			mediaMultipart: {Schema: &huma.Schema{Type: huma.TypeString}},
		}},
	}, []int{400, 408, 413, 415}, a.importKnowledge)
}

type requestKey struct{}

// withRequest hands an operation the request itself, whose body it reads piece by piece.
func withRequest(ctx huma.Context, next func(huma.Context)) {
	c := humaecho.Unwrap(ctx)
	r := c.Request()
	r.Body = http.MaxBytesReader(nil, patient{r.Body, http.NewResponseController(c.Response())}, maxImport)
	next(huma.WithValue(ctx, requestKey{}, r))
}

// patient gives each piece of a long body its own time to come, and leaves no limit behind.
type patient struct {
	io.ReadCloser
	control *http.ResponseController
}

func (p patient) Read(b []byte) (int, error) {
	_ = p.control.SetReadDeadline(time.Now().Add(bodyTimeout))
	n, err := p.ReadCloser.Read(b)
	if err == io.EOF {
		_ = p.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

func (a *API) importKnowledge(ctx context.Context, in *importInput) (*importOutput, error) {
	r, _ := ctx.Value(requestKey{}).(*http.Request)
	each, err := documentsOf(r)
	if err != nil {
		return nil, err
	}
	out := &importOutput{}
	err = a.change(ctx, queue.Audit{Action: "knowledge.import", Reason: in.Reason}, func() error {
		kept, err := a.keepEach(ctx, each)
		if err != nil {
			return err
		}
		for _, d := range kept {
			if err := a.draft(ctx, queue.Change{Document: d}); err != nil {
				return err
			}
		}
		out.Body.Documents = len(kept)
		return nil
	})
	return out, err
}

// documentsOf returns what reads a body, document by document, until io.EOF.
func documentsOf(r *http.Request) (func() (ImportedDocument, error), error) {
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case err == nil && media == mediaNDJSON:
		return linesOf(bufio.NewReaderSize(r.Body, 64<<10)), nil
	case err == nil && media == mediaMultipart && params["boundary"] != "":
		return filesOf(multipart.NewReader(r.Body, params["boundary"])), nil
	}
	return nil, &chat.Error{Kind: chat.Invalid, Code: codeMediaType, Detail: "the body must be " + mediaNDJSON + " or " + mediaMultipart}
}

func linesOf(in *bufio.Reader) func() (ImportedDocument, error) {
	return func() (d ImportedDocument, _ error) {
		line, err := readLine(in)
		if err == nil {
			err = checkHonest(line)
		}
		if err == nil {
			err = checkNames(line, reflect.TypeFor[ImportedDocument]())
		}
		if err != nil {
			return d, err
		}
		if err := json.Unmarshal(line, &d); err != nil {
			return d, chat.Bad("line", `must be {"name": "…", "text": "…"}`)
		}
		return d, nil
	}
}

// readLine returns the next line that is not blank, or io.EOF. One that is too long ends
// the import: what follows it would be a part of it.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxDocumentBody {
			return nil, errTooLarge(maxDocumentBody)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == nil && isBlank(line):
			line = line[:0]
		case err == nil, err == io.EOF && !isBlank(line):
			return line, nil
		default:
			return nil, err
		}
	}
}

func isBlank(line []byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return false
		}
	}
	return true
}

func filesOf(in *multipart.Reader) func() (ImportedDocument, error) {
	return func() (d ImportedDocument, _ error) {
		for {
			part, err := in.NextPart()
			if err != nil {
				return d, err
			}
			if part.FileName() == "" {
				continue // a field beside the files
			}
			text, err := io.ReadAll(io.LimitReader(part, knowledge.MaxDocument+1))
			return ImportedDocument{Name: part.FileName(), Text: string(text)}, err
		}
	}
}

// keepEach keeps the texts of an import as they come. After a fault it reads on to find
// the others, and keeps no more.
func (a *API) keepEach(ctx context.Context, next func() (ImportedDocument, error)) ([]queue.Document, error) {
	var kept []queue.Document
	var faults []Fault
	for n := 1; ; n++ {
		given, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if broken := brokenBody(err); broken != nil {
			return nil, broken
		}
		var d knowledge.Document
		if err == nil {
			d, err = readDocument(given.Name, given.Text)
		}
		if err == nil && n > knowledge.MaxDocuments {
			return nil, errTooLarge(maxImport)
		}
		switch {
		case err != nil:
			faults = append(faults, Fault{Field: "documents", Detail: problemOf(err).Detail, Line: n})
		case len(faults) == 0:
			one, err := a.deps.Queue.KeepText(ctx, d.Name, d.Text)
			if err != nil {
				return nil, stored(err)
			}
			kept = append(kept, one)
		}
		if len(faults) == maxImportFaults {
			break
		}
	}
	if len(faults) > 0 {
		p := newProblem(chat.Invalid, codeInvalid, fmt.Sprintf("%d documents are not valid: the draft is as it was", len(faults)))
		p.Errors = faults
		return nil, p
	}
	if len(kept) == 0 {
		return nil, chat.Bad("body", "must hold at least one document")
	}
	return kept, nil
}

// brokenBody tells a body that does not come to its end from a document that is at fault.
func brokenBody(err error) error {
	var known *chat.Error
	var large *http.MaxBytesError
	switch {
	case err == nil, errors.As(err, &known) && known.Code != codeTooLarge:
		return nil
	case errors.As(err, &known):
		return known
	case errors.As(err, &large):
		return errTooLarge(maxImport)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &chat.Error{Kind: chat.Transient, Code: codeTimeout, Detail: "the body did not come in time"}
	}
	return &chat.Error{Kind: chat.Invalid, Code: codeInvalid, Detail: "the body ended early", Err: err}
}
