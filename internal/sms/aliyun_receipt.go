package sms

import (
	"encoding/json"
	"fmt"

	"sluice/internal/chat"
)

// maxReports bounds how many receipts one request may carry.
const maxReports = 1000

// AliyunReports reads the receipts of one request: an array. What is no receipt of a notice
// of ours is left to the caller, who knows which there are.
func AliyunReports(body []byte) ([]Report, error) {
	var all []struct {
		Phone   string `json:"phone_number"`
		Success bool   `json:"success"`
		Code    string `json:"err_code"`
		BizID   string `json:"biz_id"`
		OutID   string `json:"out_id"`
	}
	if err := json.Unmarshal(body, &all); err != nil {
		return nil, fmt.Errorf("read receipts: %w", err)
	}
	if len(all) > maxReports {
		return nil, fmt.Errorf("read receipts: %d in one request, at most %d are taken", len(all), maxReports)
	}
	reports := make([]Report, 0, len(all))
	for _, r := range all {
		id, round := chat.NoticeOf(r.OutID)
		report := Report{
			Notice: id, Phone: r.Phone,
			Receipt: chat.Receipt{Status: "failed", State: chat.NoticeFailed, Code: r.Code, Carried: r.BizID, Round: round},
		}
		if r.Success {
			report.Status, report.State = "delivered", chat.NoticeDelivered
		} else {
			report.OptOut = aliyunOptOut(r.Code)
		}
		reports = append(reports, report)
	}
	return reports, nil
}
