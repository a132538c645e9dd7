package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/chat"
)

// roleExtension names in the API document the role that a call needs.
const roleExtension = "x-role"

// needs is the table of operators' calls: which role each one needs, by its operation id.
// A call that has no row needs the role admin, and fails a test.
func needs() map[string]chat.Role {
	return map[string]chat.Role{
		// One's own.
		"admin-session": chat.Viewer,
		"admin-logout":  chat.Viewer,

		"admin-change-own-password": chat.Viewer,

		"admin-overview": chat.Viewer,
		"admin-stream":   chat.Viewer,

		"admin-alerts":      chat.Viewer,
		"admin-test-alerts": chat.Operator,

		"admin-audit":        chat.Viewer,
		"admin-export-audit": chat.Viewer,

		"admin-pause-lane":   chat.Operator,
		"admin-resume-lane":  chat.Operator,
		"admin-drain-lane":   chat.Operator,
		"admin-undrain-lane": chat.Operator,
		"admin-answer-lane":  chat.Operator,
		"admin-purge-lane":   chat.Operator,

		"admin-search-tickets": chat.Viewer,
		"admin-get-ticket":     chat.Viewer,
		"admin-export-tickets": chat.Operator, // the words of many customers at once
		"admin-requeue-ticket": chat.Operator,
		"admin-cancel-ticket":  chat.Operator,

		"admin-list-bulk":  chat.Viewer,
		"admin-get-bulk":   chat.Viewer,
		"admin-begin-bulk": chat.Operator,
		"admin-stop-bulk":  chat.Operator,

		"admin-list-dead-letters":   chat.Viewer,
		"admin-requeue-dead-letter": chat.Operator,
		"admin-delete-dead-letter":  chat.Operator,

		"admin-search-tickets": chat.Viewer,
		"admin-get-ticket":     chat.Viewer,
		"admin-export-tickets": chat.Viewer,
		"admin-requeue-ticket": chat.Operator,
		"admin-cancel-ticket":  chat.Operator,
		"admin-list-bulk":      chat.Viewer,
		"admin-get-bulk":       chat.Viewer,
		"admin-begin-bulk":     chat.Operator,
		"admin-stop-bulk":      chat.Operator,

		"admin-list-ratings": chat.Viewer,
		"admin-retry-sms":    chat.Operator,

		"admin-list-promises": chat.Viewer,
		"admin-list-sms":      chat.Viewer,

		"admin-list-batches": chat.Viewer,

		"admin-list-handoffs":   chat.Viewer,
		"admin-take-handoff":    chat.Operator,
		"admin-release-handoff": chat.Operator,
		"admin-say":             chat.Operator,

		"admin-list-webhooks":           chat.Viewer,
		"admin-replay-webhook":          chat.Operator,
		"admin-enable-webhook-endpoint": chat.Operator,
		"admin-new-webhook-secret":      chat.Admin,

		"admin-list-faq":         chat.Viewer,
		"admin-try-faq":          chat.Viewer,
		"admin-faq-history":      chat.Viewer,
		"admin-faq-drafts":       chat.Viewer,
		"admin-faq-misses":       chat.Viewer,
		"admin-put-faq-entry":    chat.Operator,
		"admin-delete-faq-entry": chat.Operator,
		"admin-rollback-faq":     chat.Operator,
		"admin-draft-faq-entry":  chat.Operator,
		"admin-drop-faq-draft":   chat.Operator,
		"admin-accept-faq-draft": chat.Operator,
		"admin-import-faq":       chat.Operator,
		"admin-faq-miss-entry":   chat.Operator,
		"admin-delete-faq-miss":  chat.Operator,

		"admin-knowledge":          chat.Viewer,
		"admin-knowledge-history":  chat.Viewer,
		"admin-search-knowledge":   chat.Viewer,
		"admin-get-document":       chat.Viewer,
		"admin-put-document":       chat.Operator,
		"admin-delete-document":    chat.Operator,
		"admin-publish-knowledge":  chat.Operator,
		"admin-rollback-knowledge": chat.Operator,
		"admin-import-knowledge":   chat.Operator,

		"admin-list-vendors":  chat.Viewer,
		"admin-open-breaker":  chat.Operator,
		"admin-close-breaker": chat.Operator,
		"admin-get-valve":     chat.Viewer,
		"admin-set-valve":     chat.Operator,
		"admin-change-vendor": chat.Admin,

		"admin-list-tools":         chat.Viewer,
		"admin-open-tool-breaker":  chat.Operator,
		"admin-close-tool-breaker": chat.Operator,

		"admin-get-rules":      chat.Viewer,
		"admin-check-rules":    chat.Viewer,
		"admin-rules-history":  chat.Viewer,
		"admin-put-rules":      chat.Admin,
		"admin-rollback-rules": chat.Admin,

		"admin-list-tenants":      chat.Viewer,
		"admin-add-tenant":        chat.Admin,
		"admin-renew-tenant-keys": chat.Admin,

		"admin-list-tokens":  chat.Viewer,
		"admin-add-token":    chat.Admin,
		"admin-remove-token": chat.Admin,

		"admin-list-operators":  chat.Viewer,
		"admin-add-operator":    chat.Admin,
		"admin-change-operator": chat.Admin,
		"admin-remove-operator": chat.Admin,
	}
}

// ruled gives an operator's call the role that it needs, here and in the API document.
func ruled(op *huma.Operation) chat.Role {
	need, found := needs()[op.OperationID]
	if !found {
		need = chat.Admin
	}
	op.Extensions = map[string]any{roleExtension: need}
	if op.Description != "" {
		op.Description += " "
	}
	op.Description += "Needs the role `" + string(need) + "`."
	return need
}

// allowed lets in who has the role, or one above it. It stands behind operated.
func allowed(need chat.Role) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		if o := operatorOf(ctx.Context()); !o.role.Includes(need) {
			refuse(ctx, errRole(need, o.role))
			return
		}
		next(ctx)
	}
}

func errRole(need, own chat.Role) *chat.Error {
	return &chat.Error{Kind: chat.Denied, Code: codeRole, Detail: "this needs the role " + string(need) + ", yours is " + string(own)}
}

// refusals are the statuses beside its own that an operator's call documents.
func refusals(op *huma.Operation, need chat.Role) []int {
	all := []int{http.StatusUnauthorized, http.StatusServiceUnavailable}
	if !reads(op.Method) || need != chat.Viewer {
		all = append(all, http.StatusForbidden)
	}
	return all
}
