package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
)

// patch sets top-level fields of a JSON object: those that are there stay where they are, new ones follow in the order
// of their names. An empty value removes the field.
func patch(object []byte, fields map[string]json.RawMessage) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New("request body is not a JSON object")
	}
	out := bytes.NewBuffer(make([]byte, 0, len(object)+64*len(fields)))
	seen := make(map[string]bool, len(fields))
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, errors.New("request body is not valid JSON")
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, errors.New("request body is not valid JSON")
		}
		name, _ := token.(string)
		if own, ok := fields[name]; ok {
			seen[name], value = true, own
		}
		if err := writeField(out, name, value); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if seen[name] {
			continue
		}
		if err := writeField(out, name, fields[name]); err != nil {
			return nil, err
		}
	}
	if out.Len() == 0 {
		return []byte("{}"), nil
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

func writeField(out *bytes.Buffer, name string, value json.RawMessage) error {
	if len(value) == 0 {
		return nil
	}
	key, err := json.Marshal(name)
	if err != nil {
		return err
	}
	if out.Len() == 0 {
		out.WriteByte('{')
	} else {
		out.WriteByte(',')
	}
	out.Write(key)
	out.WriteByte(':')
	out.Write(value)
	return nil
}

// setBody gives a request a body that the transport can rewind, as it must if an idle connection turns out dead.
func setBody(req *http.Request, body []byte) {
	req.ContentLength = int64(len(body))
	req.Body = io.NopCloser(bytes.NewReader(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
}
