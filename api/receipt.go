package api

import (
	"context"
	"crypto/subtle"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/sms"
)

// TextKeys is what requests of carriers are known by. An empty one lets nothing in.
type TextKeys struct {
	TwilioToken  string // auth token, which signs
	AliyunSecret string // in the address that Aliyun calls
}

// Where carriers call.
const (
	twilioStatusPath  = "/v1/sms/twilio/status"
	twilioInboundPath = "/v1/sms/twilio/inbound"
	aliyunStatusPath  = "/v1/sms/aliyun/status"
)

// receiptLimit is how long what carriers say may take to be written. They call again.
const receiptLimit = 5 * time.Second

func (a *API) registerReceipts(e *echo.Echo, api huma.API) {
	e.POST(twilioStatusPath, a.twilioStatus)
	e.POST(twilioInboundPath, a.twilioInbound)
	e.POST(aliyunStatusPath, a.aliyunStatus)
	for _, op := range []struct{ id, path, summary, about, media string }{
		{"sms-twilio-status", twilioStatusPath, "A receipt from Twilio", "Signed with the account's auth token over the public address.", "text/xml"},
		{"sms-twilio-inbound", twilioInboundPath, "A text message from a customer, by Twilio", "Only STOP and START words are heeded. Signed as receipts are.", "text/xml"},
		{"sms-aliyun-status", aliyunStatusPath, "Receipts from Aliyun", "The address carries a secret in the parameter token.", "application/json"},
	} {
		responses := problems(api, []int{http.StatusBadRequest, http.StatusForbidden, http.StatusRequestEntityTooLarge, http.StatusServiceUnavailable})
		responses["200"] = &huma.Response{Description: "OK", Content: map[string]*huma.MediaType{op.media: {}}}
		api.OpenAPI().AddOperation(&huma.Operation{
			OperationID: op.id, Method: http.MethodPost, Path: op.path, Tags: []string{"carriers"},
			Summary: op.summary, Description: op.about, Responses: responses,
		})
	}
}

func (a *API) textKeys() TextKeys {
	if a.deps.Texts == nil {
		return TextKeys{}
	}
	return a.deps.Texts()
}

func unsigned() error {
	return &chat.Error{Kind: chat.Denied, Code: codeSignature, Detail: "the request is not signed by the carrier that is configured"}
}

// fromTwilio returns the form of a request that Twilio has signed. What it signed is our
// public address as it is configured: what the request says of itself is not believed.
func (a *API) fromTwilio(c echo.Context) (url.Values, error) {
	r := c.Request()
	body, err := readTextUpTo(c.Response(), r, maxBody)
	if err != nil {
		return nil, err
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	isForm := err == nil && media == "application/x-www-form-urlencoded"
	form := url.Values{}
	if isForm {
		if form, err = url.ParseQuery(string(body)); err != nil {
			return nil, unsigned()
		}
	}
	address := strings.TrimSuffix(a.cfg.PublicURL, "/") + r.URL.EscapedPath()
	if r.URL.RawQuery != "" {
		address += "?" + r.URL.RawQuery
	}
	if a.cfg.PublicURL == "" ||
		!sms.SignedByTwilio(a.textKeys().TwilioToken, address, r.Header.Get("X-Twilio-Signature"), form, body, isForm) {
		return nil, unsigned()
	}
	return form, nil
}

func (a *API) twilioStatus(c echo.Context) error {
	form, err := a.fromTwilio(c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), receiptLimit)
	defer cancel()
	report := sms.TwilioReport(c.QueryParam("notice"), form)
	err = a.receive(ctx, report, func(n *chat.Notice) bool {
		return n.Provider == sms.ProviderTwilio && (report.Phone == "" || report.Phone == n.Phone)
	})
	if err != nil {
		return err
	}
	return nothingToSay(c)
}

// nothingToSay answers Twilio that nothing is to be sent back.
func nothingToSay(c echo.Context) error {
	return c.Blob(http.StatusOK, "text/xml; charset=utf-8", []byte("<Response/>"))
}

// twilioInbound heeds the words that stop text messages, or start them again, and nothing
// else of what customers write.
func (a *API) twilioInbound(c echo.Context) error {
	form, err := a.fromTwilio(c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), receiptLimit)
	defer cancel()
	wish := sms.WishOf(form.Get("Body"))
	if kind := sms.WishOf(form.Get("OptOutType")); kind != sms.WishNone { // as Twilio has understood it
		wish = kind
	}
	from, now := form.Get("From"), time.Now().UTC()
	switch {
	case from == "":
	case wish == sms.WishStop:
		err = a.deps.Queue.Suppress(ctx, from, "stop", now)
	case wish == sms.WishStart:
		err = a.deps.Queue.Unsuppress(ctx, from, "start", now)
	}
	if err != nil {
		return unavailable(err)
	}
	return nothingToSay(c)
}

// aliyunStatus takes in receipts that nobody has signed: the secret in the address, the id
// of a notice and its number must all be right.
func (a *API) aliyunStatus(c echo.Context) error {
	body, err := readTextUpTo(c.Response(), c.Request(), maxBody)
	if err != nil {
		return err
	}
	secret := a.textKeys().AliyunSecret
	if secret == "" || subtle.ConstantTimeCompare([]byte(c.QueryParam("token")), []byte(secret)) != 1 {
		return unsigned()
	}
	reports, err := sms.AliyunReports(body)
	if err != nil {
		return &chat.Error{Kind: chat.Invalid, Code: codeInvalid, Detail: "the body must be an array of receipts", Err: err}
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), receiptLimit)
	defer cancel()
	for _, report := range reports {
		err := a.receive(ctx, report, func(n *chat.Notice) bool {
			return n.Provider == sms.ProviderAliyun && report.Phone != "" && strings.HasSuffix(n.Phone, strings.TrimPrefix(report.Phone, "+"))
		})
		if err != nil {
			return err
		}
	}
	return c.JSON(http.StatusOK, map[string]any{"code": 0, "msg": "成功"})
}

// receive takes in what a carrier said of a notice. One that is not ours is no fault: the
// carrier would only send it again.
func (a *API) receive(ctx context.Context, report sms.Report, fits func(*chat.Notice) bool) error {
	now := time.Now().UTC()
	report.At = now
	n, err := a.deps.Queue.Receive(ctx, report.Notice, report.Receipt, fits, now)
	if errors.Is(err, queue.ErrNotFound) {
		a.deps.Log.Warn().Str("stage", "api").Msg("a receipt is for no notice of ours")
		return nil
	}
	if err == nil && report.OptOut {
		err = a.deps.Queue.Suppress(ctx, n.Phone, report.Code, now)
	}
	if err != nil {
		return unavailable(err)
	}
	return nil
}
