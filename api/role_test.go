package api

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sluice/internal/chat"
)

// operatorsCall is one of the API document.
type operatorsCall struct {
	id, method, path string
	role             chat.Role
	refuses          bool // 403 is documented
}

// operatorsCalls reads all but the login from the API document.
func (f *fixture) operatorsCalls() (all []operatorsCall) {
	f.t.Helper()
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string
			Role        chat.Role `json:"x-role"`
			Description string
			Responses   map[string]any
		}
	}
	must(f.t, json.Unmarshal(f.call("GET", "/openapi.json", "", nil).raw, &doc))
	for path, item := range doc.Paths {
		for method, op := range item {
			if !strings.HasPrefix(path, adminPath) || op.OperationID == "admin-login" {
				continue
			}
			if !strings.Contains(op.Description, "`"+string(op.Role)+"`") {
				f.t.Errorf("%s: %q does not name its role", op.OperationID, op.Description)
			}
			all = append(all, operatorsCall{op.OperationID, strings.ToUpper(method), path, op.Role, op.Responses["403"] != nil})
		}
	}
	return all
}

func TestEveryOperatorsCallHasARow(t *testing.T) {
	t.Parallel()
	harmless := []string{"admin-logout", "admin-change-own-password", "admin-check-rules"}
	rows := needs()
	for _, c := range setup(t, nil).operatorsCalls() {
		if need, found := rows[c.id]; !found || need != c.role {
			t.Errorf("%s %s has no row in the table of roles, or not the role %q of the document: add %q there", c.method, c.path, c.role, c.id)
		}
		if c.role != chat.Viewer && !c.refuses {
			t.Errorf("%s needs %s and documents no 403", c.id, c.role)
		}
		if c.role == chat.Viewer && !reads(c.method) && !slices.Contains(harmless, c.id) {
			t.Errorf("%s changes something and needs no more than %s", c.id, c.role)
		}
		delete(rows, c.id)
	}
	for id := range rows {
		t.Errorf("the row %s is no call's", id)
	}
}

// TestEveryOperatorsCallIsForItsRole makes each call as each role, by login and by token.
// What follows on being let in is of no interest: most of the calls are not whole.
func TestEveryOperatorsCallIsForItsRole(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	name := regexp.MustCompile(`\{(\w+)\}`)
	calls := f.operatorsCalls()
	if len(calls) < 60 {
		t.Fatalf("only %d calls", len(calls))
	}
	for _, role := range chat.Roles() {
		f.hire(string(role), role)
		token := f.token(role)
		for _, c := range calls {
			path := strings.ReplaceAll(c.path, "{lane}", "low")
			path = name.ReplaceAllString(path, "x")
			cookie, csrf := f.enter(string(role))
			for _, by := range [][]string{{"Cookie", cookie, "X-CSRF-Token", csrf}, {"Authorization", "Bearer " + token}} {
				status, code, detail := f.tried(c.method, path, by...)
				refused := status == http.StatusForbidden && code == codeRole
				if refused == role.Includes(c.role) || status == http.StatusUnauthorized {
					t.Errorf("%s as %s, which needs %s: %d %s", c.id, role, c.role, status, code)
				}
				if refused && !strings.Contains(detail, "role "+string(c.role)) {
					t.Errorf("%s: %q does not name the role", c.id, detail)
				}
			}
		}
	}
}

// tried makes a call and reads no more of its answer than how it was refused.
func (f *fixture) tried(method, path string, headers ...string) (status int, code, detail string) {
	f.t.Helper()
	var body io.Reader
	if !reads(method) {
		body = strings.NewReader("{}")
	}
	req, err := http.NewRequestWithContext(f.t.Context(), method, f.url+path, body)
	must(f.t, err)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := f.client.Do(req)
	must(f.t, err)
	defer res.Body.Close()
	var p struct{ Code, Detail string }
	if res.StatusCode >= http.StatusBadRequest {
		must(f.t, json.NewDecoder(res.Body).Decode(&p))
	}
	return res.StatusCode, p.Code, p.Detail
}
