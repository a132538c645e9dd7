package sim

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// twilioPrefix begins the id of each message that came by Twilio's interface.
const twilioPrefix = "SM"

// ofTwilio reports whether a request has the account's credentials.
func (c *Carrier) ofTwilio(w http.ResponseWriter, r *http.Request) bool {
	account, token, _ := r.BasicAuth()
	if account == c.cfg.Account && r.PathValue("account") == account && subtle.ConstantTimeCompare([]byte(token), []byte(c.cfg.Token)) == 1 {
		return true
	}
	c.badSignature()
	writeJSON(w, http.StatusUnauthorized, map[string]any{"code": 20003, "message": "Authenticate", "status": 401})
	return false
}

func (c *Carrier) twilioSend(w http.ResponseWriter, r *http.Request) {
	if !c.ofTwilio(w, r) {
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxControlBody)
	if err := r.ParseForm(); err != nil || r.PostForm.Get("To") == "" || r.PostForm.Get("Body") == "" {
		writeJSON(w, http.StatusBadRequest, map[string]any{"code": 21604, "status": 400})
		return
	}
	b := c.behaviourNow()
	if b.Status != 0 {
		if !waited(r.Context(), b.Delay) {
			return
		}
		code, err := strconv.Atoi(b.Code)
		if err != nil {
			code = 20429
		}
		writeJSON(w, b.Status, map[string]any{"code": code, "status": b.Status})
		return
	}
	callback := r.PostForm.Get("StatusCallback")
	notice := ""
	if u, err := url.Parse(callback); err == nil {
		notice = u.Query().Get("notice")
	}
	t := c.take(&Text{To: r.PostForm.Get("To"), Body: r.PostForm.Get("Body"), Notice: notice, Status: "queued", callback: callback}, twilioPrefix)
	c.mu.Lock()
	body := shownText(t)
	c.mu.Unlock()
	answer(w, r, b, http.StatusCreated, body)
}

func shownText(t *Text) map[string]any {
	shown := map[string]any{
		"sid": t.ID, "to": t.To, "body": t.Body, "status": t.Status, "date_created": t.At.UTC().Format(time.RFC1123Z), "error_code": nil,
	}
	if code, err := strconv.Atoi(t.Code); err == nil {
		shown["error_code"] = code
	}
	return shown
}

func (c *Carrier) twilioList(w http.ResponseWriter, r *http.Request) {
	if !c.ofTwilio(w, r) {
		return
	}
	if c.behaviourNow().Blind {
		writeJSON(w, http.StatusInternalServerError, map[string]any{"code": 20500, "status": 500})
		return
	}
	size, err := strconv.Atoi(r.URL.Query().Get("PageSize"))
	if err != nil || size < 1 || size > 1000 {
		size = 50
	}
	all := []map[string]any{}
	for _, t := range c.find(r.URL.Query().Get("To"), size) {
		all = append(all, shownText(&t))
	}
	writeJSON(w, http.StatusOK, map[string]any{"messages": all})
}

// twilioReceipt is a signed receipt for where the message has asked for it; nil: nowhere.
func (c *Carrier) twilioReceipt(t *Text) (*http.Request, error) {
	if t.callback == "" {
		return nil, nil
	}
	form := url.Values{
		"MessageSid": {t.ID}, "SmsSid": {t.ID}, "AccountSid": {c.cfg.Account}, "To": {t.To}, "MessageStatus": {t.Status}, "SmsStatus": {t.Status},
	}
	if t.Code != "" {
		form.Set("ErrorCode", t.Code)
	}
	return c.signed(t.callback, form)
}

// Inbound returns the signed request by which Twilio tells of a text message from a customer.
func (c *Carrier) Inbound(address, from, body string) (*http.Request, error) {
	return c.signed(address, url.Values{"From": {from}, "Body": {body}, "MessageSid": {twilioPrefix}})
}

func (c *Carrier) signed(address string, form url.Values) (*http.Request, error) {
	req, err := http.NewRequestWithContext(c.ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	names := []string{}
	for name := range form {
		names = append(names, name)
	}
	slices.Sort(names)
	var text strings.Builder
	text.WriteString(address)
	for _, name := range names {
		text.WriteString(name + form.Get(name))
	}
	mac := hmac.New(sha1.New, []byte(c.cfg.Token))
	mac.Write([]byte(text.String()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8")
	req.Header.Set("X-Twilio-Signature", base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return req, nil
}
