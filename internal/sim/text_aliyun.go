package sim

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

var aliyunSigned = regexp.MustCompile(`^ACS3-HMAC-SHA256 Credential=([^,]+),SignedHeaders=([^,]+),Signature=([0-9a-f]{64})$`)

// ofAliyun checks the signature of a request, by Aliyun's third version.
func (c *Carrier) ofAliyun(r *http.Request) bool {
	m := aliyunSigned.FindStringSubmatch(r.Header.Get("Authorization"))
	if m == nil || m[1] != c.cfg.Account {
		return false
	}
	names := strings.Split(m[2], ";")
	for _, needed := range []string{"host", "x-acs-action", "x-acs-version", "x-acs-date", "x-acs-signature-nonce", "x-acs-content-sha256"} {
		if !slices.Contains(names, needed) {
			return false
		}
	}
	sent, err := time.Parse("2006-01-02T15:04:05Z", r.Header.Get("x-acs-date"))
	if err != nil || time.Since(sent).Abs() > 15*time.Minute {
		return false
	}
	lines := []string{r.Method, r.URL.EscapedPath(), strings.Join(sortedQuery(r.URL.Query()), "&")}
	for _, name := range names {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		lines = append(lines, name+":"+value)
	}
	lines = append(lines, "", m[2], r.Header.Get("x-acs-content-sha256"))
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	mac := hmac.New(sha256.New, []byte(c.cfg.Token))
	mac.Write([]byte("ACS3-HMAC-SHA256\n" + hex.EncodeToString(sum[:])))
	return hmac.Equal([]byte(hex.EncodeToString(mac.Sum(nil))), []byte(m[3]))
}

func sortedQuery(query url.Values) []string {
	var all []string
	for name, values := range query {
		for _, value := range values {
			all = append(all, strings.ReplaceAll(url.QueryEscape(name)+"="+url.QueryEscape(value), "+", "%20"))
		}
	}
	slices.Sort(all)
	return all
}

func (c *Carrier) aliyun(w http.ResponseWriter, r *http.Request) {
	if !c.ofAliyun(r) {
		c.badSignature()
		writeJSON(w, http.StatusBadRequest, map[string]any{"Code": "SignatureDoesNotMatch", "Message": "the signature does not match"})
		return
	}
	switch r.Header.Get("x-acs-action") {
	case "SendSms":
		c.aliyunSend(w, r)
	case "QuerySendDetails":
		c.aliyunDetails(w, r)
	default:
		writeJSON(w, http.StatusNotFound, map[string]any{"Code": "InvalidAction.NotFound"})
	}
}

func (c *Carrier) aliyunSend(w http.ResponseWriter, r *http.Request) {
	query, b := r.URL.Query(), c.behaviourNow()
	if b.Status != 0 || b.Code != "" {
		if waited(r.Context(), b.Delay) {
			writeJSON(w, max(b.Status, http.StatusOK), map[string]any{"Code": b.Code, "Message": "refused"})
		}
		return
	}
	var variables map[string]string
	err := json.Unmarshal([]byte(query.Get("TemplateParam")), &variables)
	for _, value := range variables {
		if strings.Contains(value, "://") || len([]rune(value)) > 20 {
			writeJSON(w, http.StatusOK, map[string]any{"Code": "isv.PARAM_LENGTH_LIMIT"})
			return
		}
	}
	if err != nil || query.Get("SignName") == "" || query.Get("TemplateCode") == "" {
		writeJSON(w, http.StatusOK, map[string]any{"Code": "isv.INVALID_PARAMETERS"})
		return
	}
	t := c.take(&Text{
		To: query.Get("PhoneNumbers"), Body: query.Get("TemplateCode") + " " + query.Get("TemplateParam"), Notice: query.Get("OutId"), Status: "sent",
	}, "")
	answer(w, r, b, http.StatusOK, map[string]any{"Code": "OK", "Message": "OK", "BizId": t.ID, "RequestId": t.ID})
}

func (c *Carrier) aliyunDetails(w http.ResponseWriter, r *http.Request) {
	if c.behaviourNow().Blind {
		writeJSON(w, http.StatusInternalServerError, map[string]any{"Code": "InternalError"})
		return
	}
	query := r.URL.Query()
	all := []map[string]any{}
	for _, t := range c.find(query.Get("PhoneNumber"), maxTexts) {
		if t.At.In(time.FixedZone("", 8*60*60)).Format("20060102") != query.Get("SendDate") {
			continue
		}
		state := map[string]int{"delivered": 3, "undelivered": 2, "failed": 2}[t.Status]
		all = append(all, map[string]any{"OutId": t.Notice, "SendStatus": max(1, state), "ErrCode": t.Code, "PhoneNum": t.To})
	}
	total := strconv.Itoa(len(all))
	writeJSON(w, http.StatusOK, map[string]any{"Code": "OK", "TotalCount": total, "SmsSendDetailDTOs": map[string]any{"SmsSendDetailDTO": all}})
}

// aliyunReceipt is a receipt; only ends have one. nil: nowhere to send it to.
func (c *Carrier) aliyunReceipt(t *Text) (*http.Request, error) {
	if c.cfg.Reports == "" || t.Status != "delivered" && t.Status != "undelivered" && t.Status != "failed" {
		return nil, nil
	}
	body, err := json.Marshal([]map[string]any{{
		"phone_number": t.To, "send_time": t.At.Format(time.DateTime), "report_time": time.Now().Format(time.DateTime),
		"success": t.Status == "delivered", "err_code": t.Code, "err_msg": "", "sms_size": "1", "biz_id": t.ID, "out_id": t.Notice,
	}})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(c.ctx, http.MethodPost, c.cfg.Reports, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	return req, nil
}
