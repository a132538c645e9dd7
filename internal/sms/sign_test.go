package sms

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// The vectors are those of Twilio's own libraries.
func TestSignaturesOfTwilio(t *testing.T) {
	t.Parallel()
	const token, address = "12345", "https://mycompany.com/myapp.php?foo=1&bar=2"
	form := url.Values{
		"CallSid": {"CA1234567890ABCDE"}, "Caller": {"+14158675309"}, "Digits": {"1234"}, "From": {"+14158675309"}, "To": {"+18005551212"},
	}
	const signature = "RSOYDt4T1cUTdK1PDd93/VVr8B8="
	body := []byte(`{"property": "value", "boolean": true}`)
	const hashed = address + "&bodySHA256=0a1ff7634d9ab3b95db5c9a2dfe9416e41502b283a80c7cf19632632f96e6620"
	const ofBody = "a9nBmqA0ju/hNViExpshrM61xv4="
	for name, c := range map[string]struct {
		token, address, signature string
		form                      url.Values
		body                      []byte
		isForm, want              bool
	}{
		"a form":              {token, address, signature, form, nil, true, true},
		"a body":              {token, hashed, ofBody, nil, body, false, true},
		"another token":       {"12346", address, signature, form, nil, true, false},
		"no token":            {"", address, TwilioSignature("", address, form), form, nil, true, false},
		"no signature":        {token, address, "", form, nil, true, false},
		"another address":     {token, address + "3", signature, form, nil, true, false},
		"without TLS":         {token, strings.Replace(address, "https", "http", 1), signature, form, nil, true, false},
		"another form":        {token, address, signature, url.Values{"To": {"+18005551212"}}, nil, true, false},
		"another body":        {token, hashed, ofBody, nil, []byte(`{}`), false, false},
		"a body without hash": {token, address, TwilioSignature(token, address, nil), nil, body, false, false},
		"a form as a body":    {token, address, signature, form, nil, false, false},
	} {
		if got := SignedByTwilio(c.token, c.address, c.signature, c.form, c.body, c.isForm); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The vector is that of Aliyun's documentation of its third signature.
func TestSignatureOfAliyun(t *testing.T) {
	t.Parallel()
	query := url.Values{"ImageId": {"win2019_1809_x64_dtc_zh-cn_40G_alibase_20230811.vhd"}, "RegionId": {"cn-shanghai"}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://ecs.cn-shanghai.aliyuncs.com/?"+query.Encode(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"x-acs-action": "RunInstances", "x-acs-version": "2014-05-26", "x-acs-date": "2023-10-26T10:22:32Z",
		"x-acs-signature-nonce": "3156853299f313e23d1673dc12e1703d",
		"x-acs-content-sha256":  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
	} {
		r.Header.Set(name, value)
	}
	signAliyun(r, query, "YourAccessKeyId", "YourAccessKeySecret")
	const want = "ACS3-HMAC-SHA256 Credential=YourAccessKeyId,SignedHeaders=host;x-acs-action;x-acs-content-sha256;x-acs-date;x-acs-signature-nonce;x-acs-version," +
		"Signature=06563a9e1b43f5dfe96b81484da74bceab24a1d853912eee15083a6f0f3283c0"
	if got := r.Header.Get("Authorization"); got != want {
		t.Errorf("signed with\n%s, want\n%s", got, want)
	}
}

func TestQueriesOfAliyunAreEscapedByRFC3986(t *testing.T) {
	t.Parallel()
	if got := aliyunQuery(url.Values{"b": {"a b*c~d+e"}, "a": {"流水"}}); got != "a=%E6%B5%81%E6%B0%B4&b=a%20b%2Ac~d%2Be" {
		t.Error(got)
	}
}
