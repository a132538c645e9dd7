package sms

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// aliyunAlgorithm is the third version of Aliyun's signatures.
const aliyunAlgorithm = "ACS3-HMAC-SHA256"

// signAliyun signs a request by its host and its x-acs headers, which stand already.
func signAliyun(r *http.Request, query url.Values, id, secret string) {
	signed := []string{"host"}
	for name := range r.Header {
		if name = strings.ToLower(name); strings.HasPrefix(name, "x-acs-") {
			signed = append(signed, name)
		}
	}
	slices.Sort(signed)
	var headers strings.Builder
	for _, name := range signed {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.URL.Host
		}
		headers.WriteString(name + ":" + strings.TrimSpace(value) + "\n")
	}
	names := strings.Join(signed, ";")
	canonical := strings.Join([]string{
		r.Method, aliyunPath(r.URL), aliyunQuery(query), headers.String(), names, r.Header.Get("x-acs-content-sha256"),
	}, "\n")
	sum := sha256.Sum256([]byte(canonical))
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(aliyunAlgorithm + "\n" + hex.EncodeToString(sum[:])))
	r.Header.Set("Authorization", aliyunAlgorithm+" Credential="+id+",SignedHeaders="+names+",Signature="+hex.EncodeToString(mac.Sum(nil)))
}

func aliyunPath(u *url.URL) string {
	if u.Path == "" {
		return "/"
	}
	return u.EscapedPath()
}

// aliyunQuery writes a query as it is signed: sorted, and escaped by RFC 3986.
func aliyunQuery(query url.Values) string {
	return strings.NewReplacer("+", "%20", "*", "%2A", "%7E", "~").Replace(query.Encode())
}
