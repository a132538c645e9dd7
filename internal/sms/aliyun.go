package sms

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sluice/internal/chat"
)

// DefaultAliyun is where Aliyun's interface for text messages is.
const DefaultAliyun = "https://dysmsapi.aliyuncs.com"

const aliyunVersion = "2017-05-25"

// AliyunConfig describes an account at Aliyun.
type AliyunConfig struct {
	Key    string // AccessKey ID
	Secret string // AccessKey Secret
	// Signs and Templates are the approved signature and template by language. The template
	// has one variable, code; its address is part of what was approved.
	Signs, Templates map[string]string
	// Base is where the interface is. Defaults to DefaultAliyun.
	Base string
	// Transport carries the requests. Defaults to http.DefaultTransport.
	Transport http.RoundTripper
}

// Aliyun hands notices over to Aliyun. It is safe for concurrent use.
type Aliyun struct {
	cfg    AliyunConfig
	client client
}

// NewAliyun returns the carrier; it does no I/O.
func NewAliyun(cfg AliyunConfig) (*Aliyun, error) {
	if cfg.Key == "" || cfg.Secret == "" {
		return nil, errors.New("aliyun: key and secret are required")
	}
	for _, language := range []string{chat.Chinese, chat.English} {
		if cfg.Signs[language] == "" || cfg.Templates[language] == "" {
			return nil, fmt.Errorf("aliyun: signature and template are required in %s", language)
		}
	}
	if cfg.Base == "" {
		cfg.Base = DefaultAliyun
	}
	cfg.Base = strings.TrimSuffix(cfg.Base, "/")
	return &Aliyun{cfg: cfg, client: newClient(cfg.Transport)}, nil
}

// Name returns ProviderAliyun.
func (a *Aliyun) Name() string { return ProviderAliyun }

// call makes a signed request and reads its answer into out. 5xx and what is no answer of
// Aliyun's are errors; errUnsent as in client.do.
func (a *Aliyun) call(ctx context.Context, action string, query url.Values, out any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.cfg.Base+"/?"+aliyunQuery(query), nil)
	if err != nil {
		return fmt.Errorf("%w: the address is none", errUnsent)
	}
	empty := sha256.Sum256(nil)
	for name, value := range map[string]string{
		"x-acs-action": action, "x-acs-version": aliyunVersion, "x-acs-date": time.Now().UTC().Format("2006-01-02T15:04:05Z"),
		"x-acs-signature-nonce": rand.Text(), "x-acs-content-sha256": hex.EncodeToString(empty[:]),
	} {
		req.Header.Set(name, value)
	}
	signAliyun(req, query, a.cfg.Key, a.cfg.Secret)
	status, _, body, err := a.client.do(req)
	if err != nil {
		return err
	}
	if status >= http.StatusInternalServerError {
		return fmt.Errorf("answered %d", status)
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("answered %d with what is no answer", status)
	}
	return nil
}

// Text returns what identifies the approved text, with its variable; how many segments it
// takes only Aliyun knows: 0.
func (a *Aliyun) Text(n *chat.Notice) (text string, segments int) {
	language := a.language(n)
	return "【" + a.cfg.Signs[language] + "】" + a.cfg.Templates[language] + " code=" + n.Code, 0
}

func (a *Aliyun) language(n *chat.Notice) string {
	if a.cfg.Templates[n.Language] == "" {
		return chat.English
	}
	return n.Language
}

// Send hands a notice over, once: the code goes into the approved template, nothing else
// does. An error that is no *Refusal: it may have been taken.
func (a *Aliyun) Send(ctx context.Context, n *chat.Notice) (chat.Receipt, error) {
	language := a.language(n)
	variables, err := json.Marshal(map[string]string{"code": n.Code})
	if err != nil {
		return chat.Receipt{}, &Refusal{Verdict: Never, Code: "variables"}
	}
	var answer struct{ Code, BizId string }
	err = a.call(ctx, "SendSms", url.Values{
		"PhoneNumbers": {aliyunNumber(n.Phone)}, "SignName": {a.cfg.Signs[language]}, "TemplateCode": {a.cfg.Templates[language]},
		"TemplateParam": {string(variables)}, "OutId": {n.Mark()},
	}, &answer)
	switch {
	case errors.Is(err, errUnsent):
		return chat.Receipt{}, &Refusal{Verdict: NotNow, Code: "unreachable"}
	case err != nil:
		return chat.Receipt{}, fmt.Errorf("send through aliyun: %w", err)
	case answer.Code == "OK":
		return chat.Receipt{Status: "OK", State: chat.NoticeSent, Carried: answer.BizId}, nil
	case answer.Code == "":
		return chat.Receipt{}, errors.New("send through aliyun: the answer has no code")
	}
	return chat.Receipt{}, aliyunRefusal(answer.Code)
}

// aliyunRefusal reads a code: rates, and faults of our account, may pass. After a fault of
// Aliyun's own nobody knows whether the message was taken.
func aliyunRefusal(code string) error {
	switch {
	case aliyunOptOut(code):
		return &Refusal{Verdict: OptOut, Code: code}
	case strings.HasPrefix(code, "Throttling"), strings.HasPrefix(code, "InvalidAccessKeyId"), strings.HasPrefix(code, "Forbidden"),
		strings.HasPrefix(code, "SignatureDoesNotMatch"), code == "isv.BUSINESS_LIMIT_CONTROL", code == "isv.AMOUNT_NOT_ENOUGH",
		code == "isv.OUT_OF_SERVICE", code == "isv.ACCOUNT_ABNORMAL":
		return &Refusal{Verdict: NotNow, Code: code}
	case code == "isp.SYSTEM_ERROR", strings.HasPrefix(code, "InternalError"), strings.HasPrefix(code, "ServiceUnavailable"):
		return fmt.Errorf("send through aliyun: %s", code)
	}
	return &Refusal{Verdict: Never, Code: code}
}

// aliyunOptOut reports whether a code says that a number's owner wants no messages.
func aliyunOptOut(code string) bool {
	code = strings.ToUpper(code)
	return strings.Contains(code, "IN_BLACK") || strings.Contains(code, "INBLACKLIST")
}

// aliyunNumber writes a number as Aliyun has it: one of the mainland without its country.
func aliyunNumber(phone string) string {
	if mainland, found := strings.CutPrefix(phone, "+86"); found {
		return mainland
	}
	return strings.TrimPrefix(phone, "+")
}

// aliyunZone is what Aliyun's days are counted by.
var aliyunZone = time.FixedZone("UTC+8", 8*60*60)

// Aliyun's states of a message, as QuerySendDetails has them.
const (
	aliyunWaiting   = 1
	aliyunFailed    = 2
	aliyunDelivered = 3
)

// aliyunPage is how many messages to a number of one day are looked at.
const aliyunPage = 50

// Find looks for a notice among the messages to its number of the day of its last try, and
// of the next where that is about to begin. An error: nobody can tell.
func (a *Aliyun) Find(ctx context.Context, n *chat.Notice) (Found, error) {
	days := []string{n.AskedAt.In(aliyunZone).Format("20060102")}
	if next := n.AskedAt.Add(requestLimit).In(aliyunZone).Format("20060102"); next != days[0] {
		days = append(days, next)
	}
	for _, day := range days {
		found, err := a.findOn(ctx, n, day)
		if err != nil || found.There {
			return found, err
		}
	}
	return Found{}, nil
}

func (a *Aliyun) findOn(ctx context.Context, n *chat.Notice, day string) (Found, error) {
	var answer struct {
		Code     string
		Total    json.Number `json:"TotalCount"`
		SendList struct {
			Messages []struct {
				OutId      string
				SendStatus int
				ErrCode    string
			} `json:"SmsSendDetailDTO"`
		} `json:"SmsSendDetailDTOs"`
	}
	err := a.call(ctx, "QuerySendDetails", url.Values{
		"PhoneNumber": {aliyunNumber(n.Phone)}, "SendDate": {day}, "PageSize": {strconv.Itoa(aliyunPage)}, "CurrentPage": {"1"},
	}, &answer)
	if err != nil {
		return Found{}, fmt.Errorf("look up at aliyun: %w", err)
	}
	if answer.Code != "OK" {
		return Found{}, fmt.Errorf("look up at aliyun: %s", answer.Code)
	}
	for _, m := range answer.SendList.Messages {
		if m.OutId != n.Mark() {
			continue
		}
		r := chat.Receipt{Status: "state " + strconv.Itoa(m.SendStatus)}
		switch m.SendStatus {
		case aliyunWaiting:
			r.State = chat.NoticeSent
		case aliyunFailed:
			r.State, r.Code = chat.NoticeFailed, m.ErrCode
		case aliyunDelivered:
			r.State = chat.NoticeDelivered
		}
		return Found{There: true, Receipt: r}, nil
	}
	if total, err := answer.Total.Int64(); err != nil || total > aliyunPage {
		return Found{}, errors.New("look up at aliyun: the list does not hold all")
	}
	return Found{}, nil
}
