package sms

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"

	"sluice/internal/chat"
)

// Report is what a carrier sent of one notice.
type Report struct {
	Notice string // its id
	Phone  string // its number as the carrier writes it; empty: it does not say
	chat.Receipt
	OptOut bool // its customer wants none
}

// SignedByTwilio reports whether a request to our address was signed with an account's auth
// token. address is the whole public address that Twilio called, with its query, as it is
// configured and not as the request has it. A form is signed with the address, any other
// body by its hash in the query. Without a token nothing is signed.
func SignedByTwilio(token, address, signature string, form url.Values, body []byte, isForm bool) bool {
	if token == "" || signature == "" {
		return false
	}
	if !isForm && !hashedBody(address, body) {
		return false
	}
	if !isForm {
		form = nil
	}
	return hmac.Equal([]byte(TwilioSignature(token, address, form)), []byte(signature))
}

// hashedBody compares the hash that the query names with a body's.
func hashedBody(address string, body []byte) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	sum := sha256.Sum256(body)
	return hmac.Equal([]byte(hex.EncodeToString(sum[:])), []byte(strings.ToLower(u.Query().Get("bodySHA256"))))
}

// TwilioSignature signs a request: the address, then each name of the form in order with
// its values, which are sorted, and each only once.
func TwilioSignature(token, address string, form url.Values) string {
	mac := hmac.New(sha1.New, []byte(token))
	mac.Write([]byte(address))
	names := make([]string, 0, len(form))
	for name := range form {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		values := slices.Clone(form[name])
		slices.Sort(values)
		for _, value := range slices.Compact(values) {
			mac.Write([]byte(name + value))
		}
	}
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// TwilioReport reads a receipt of Twilio's. mark is the notice that our address names.
func TwilioReport(mark string, form url.Values) Report {
	id, round := chat.NoticeOf(mark)
	status := form.Get("MessageStatus")
	if status == "" {
		status = form.Get("SmsStatus")
	}
	sid := form.Get("MessageSid")
	if sid == "" {
		sid = form.Get("SmsSid")
	}
	code := form.Get("ErrorCode")
	return Report{
		Notice: id, Phone: form.Get("To"), OptOut: code == twilioOptOut,
		Receipt: chat.Receipt{Status: status, State: twilioState(status), Code: code, Carried: sid, Round: round},
	}
}
