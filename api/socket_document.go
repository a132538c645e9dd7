package api

import (
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/coder/websocket"
	"github.com/danielgtaylor/huma/v2"
)

// frameDoc is a frame as the API document tells of it.
type frameDoc struct {
	name string
	of   reflect.Type
	note string
}

func clientFrames() []frameDoc {
	return []frameDoc{
		{"hello", reflect.TypeFor[helloFrame](), "first, once, within 10 s; an existing session needs its token or its identity"},
		{"send", reflect.TypeFor[sendFrame](), "a message; the same `cmid` again gets the same `ack`"},
		{"typing", reflect.TypeFor[typeFrame](), "again every 3 s while the customer types"},
		{"read", reflect.TypeFor[readFrame](), "what the customer has seen"},
		{"cancel", reflect.TypeFor[cancelFrame](), "its final event tells"},
		{"rate", reflect.TypeFor[rateFrame](), "an answer, within a day of its end"},
		{"ping", reflect.TypeFor[pingFrame](), "answered by `pong`"},
	}
}

func serverFrames() []frameDoc {
	return []frameDoc{
		{"welcome", reflect.TypeFor[welcomeFrame](), "the answer to `hello`; keep session and token"},
		{"ack", reflect.TypeFor[ackFrame](), "the message is durable"},
		{"event", reflect.TypeFor[eventFrame](), "durable, in order of `seq`, each once; `kind`: `message`, `status`, `owner`, `promise`, `rating`"},
		{"delta", reflect.TypeFor[deltaFrame](), "a piece of an answer in the making, may be lost; a higher `attempt` clears what there is"},
		{"queue", reflect.TypeFor[queueFrame](), "the place in the lane, may be lost"},
		{"typing", reflect.TypeFor[typingFrame](), "who writes, for `ttl_ms`; may be lost"},
		{"error", reflect.TypeFor[errorFrame](), "why a frame was not obeyed"},
		{"goaway", reflect.TypeFor[goawayFrame](), "the server stops"},
		{"pong", reflect.TypeFor[pongFrame](), ""},
	}
}

// closeDoc is a code that sockets are closed with, and why.
type closeDoc struct {
	code websocket.StatusCode
	why  string
}

// again reports whether a client is to come back.
func (c closeDoc) again() bool { return c.code < 4500 }

func closeCodes() []closeDoc {
	return []closeDoc{
		{closeUnavailable, "a dependency is away, or events expired meanwhile"},
		{closeShutdown, "the server stops"},
		{closeSlow, "too slow: no hello in time, no answer to a ping, too far behind; nothing is lost"},
		{closeTooMany, "too many sockets or frames"},
		{closeBadKey, "bad key, bad identity, or `bad token`: not this session's"},
		{closeBadFrame, "a frame that is none"},
		{closeTooManyHere, "the session was opened so often that its oldest socket had to go"},
		{closeOrigin, "the page's origin is not on the tenant's list"},
	}
}

// documentSocket describes the socket: OpenAPI knows no frames, so they stand in the text,
// and for programs in `x-frames` and `x-close-codes`.
func documentSocket(api huma.API) *huma.Operation {
	responses := problems(api, []int{http.StatusUpgradeRequired, http.StatusServiceUnavailable})
	responses["101"] = &huma.Response{Description: "Switching Protocols"}
	var text strings.Builder
	text.WriteString("A WebSocket with the subprotocol `" + subprotocol + "`, one JSON object of at most 64 KiB a frame, each with its `type`. " +
		"Fields that a frame does not have are refused; a field that is null is not there. The frames' schemas are in `x-frames`.\n")
	codes := map[string]any{}
	frames := map[string]any{
		"client": documentFrames(api, &text, "A client sends", clientFrames()),
		"server": documentFrames(api, &text, "The server sends", serverFrames()),
	}
	text.WriteString("\n| closed with | why | come back |\n| --- | --- | --- |\n")
	for _, c := range closeCodes() {
		fmt.Fprintf(&text, "| %d | %s | %s |\n", c.code, c.why, map[bool]string{true: "yes", false: "no"}[c.again()])
		codes[strconv.Itoa(int(c.code))] = map[string]any{"reason": c.why, "retry": c.again()}
	}
	return &huma.Operation{
		OperationID: "chat", Method: http.MethodGet, Path: "/v1/chat", Tags: []string{"sessions"},
		Summary: "The chat socket", Description: text.String(), Responses: responses,
		Extensions: map[string]any{"x-frames": frames, "x-close-codes": codes},
	}
}

// documentFrames adds a table of frames to the text, and returns their schemas by name.
func documentFrames(api huma.API, text *strings.Builder, title string, all []frameDoc) map[string]any {
	schemas := map[string]any{}
	fmt.Fprintf(text, "\n| %s | fields | |\n| --- | --- | --- |\n", title)
	for _, f := range all {
		schema := api.OpenAPI().Components.Schemas.Schema(f.of, true, "")
		schemas[f.name] = schema
		fmt.Fprintf(text, "| `%s` | %s | %s |\n", f.name, strings.Join(fieldNames(f.of), ", "), f.note)
	}
	return schemas
}

// fieldNames lists the fields of a frame besides its type; what may be missing has a "?".
func fieldNames(t reflect.Type) (names []string) {
	for field := range t.Fields() {
		name, more, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous:
			names = append(names, fieldNames(field.Type)...)
		case name == "type":
		case more != "":
			names = append(names, "`"+name+"?`")
		default:
			names = append(names, "`"+name+"`")
		}
	}
	return names
}
