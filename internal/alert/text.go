package alert

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Lang is a language of people who read alerts.
type Lang string

// The languages.
const (
	Chinese Lang = "zh"
	English Lang = "en"
)

// Title returns what is wrong in a few words.
func (n Name) Title(l Lang) string { return pick(l, titles[n]) }

// Help returns what to do.
func (n Name) Help(l Lang) string { return pick(l, helps[n]) }

// Title returns the severity in one word.
func (s Severity) Title(l Lang) string {
	if s == Critical {
		return pick(l, both{"严重", "critical"})
	}
	return pick(l, both{"警告", "warning"})
}

// Summary returns what is wrong with what, and by how much.
func (a Alert) Summary(l Lang) string {
	value, threshold := a.quantity(a.Value, l), a.quantity(a.Threshold, l)
	switch a.Name {
	case PermitsBusy, PermitsSpent:
		return fmt.Sprintf(pick(l, both{"供应商 %s 的许可已用 %s（阈值 %s）", "vendor %s: %s of its permits are in use (threshold %s)"}), a.Target, value, threshold)
	case Refusals:
		return fmt.Sprintf(pick(l, both{"5 分钟内拒绝了 %s 条消息（阈值 %s）", "%s messages refused in 5 minutes (threshold %s)"}), value, threshold)
	case BreakerOpen:
		return fmt.Sprintf(pick(l, both{"%s 的熔断器已断开", "the breaker of %s is open"}), a.Target)
	case LevelHigh:
		return fmt.Sprintf(pick(l, both{"负载级别为 %s（阈值 %s）", "the load level is %s (threshold %s)"}), value, threshold)
	case WaitLong:
		return fmt.Sprintf(pick(l, both{"通道 %s 的最长等待为 %s（上限 %s）", "lane %s: the longest wait is %s (at most %s)"}), a.Target, value, threshold)
	case PromiseBroken:
		return fmt.Sprintf(pick(l, both{"%s 个承诺未兑现", "%s broken promises"}), value)
	case DeadLetter:
		return fmt.Sprintf(pick(l, both{"新增 %s 封死信", "%s new dead letters"}), value)
	case NodeLost:
		return fmt.Sprintf(pick(l, both{"进程 %s 未告别即消失", "process %s is gone without a goodbye"}), a.Target)
	case RecorderLag:
		return fmt.Sprintf(pick(l, both{"账本落后 %s（阈值 %s）", "the ledger is %s behind (threshold %s)"}), value, threshold)
	}
	return string(a.Name)
}

// quantity writes a value in the unit of its alert.
func (a Alert) quantity(v float64, l Lang) string {
	switch a.Name {
	case PermitsBusy, PermitsSpent:
		return strconv.FormatFloat(math.Round(1000*v)/10, 'f', -1, 64) + " %"
	case WaitLong, RecorderLag:
		return span(time.Duration(v*float64(time.Second)), l)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// span writes a duration as people do, to the second.
func span(d time.Duration, l Lang) string {
	d = d.Round(time.Second)
	h, m, s := int(d/time.Hour), int(d/time.Minute)%60, int(d/time.Second)%60
	switch {
	case h > 0:
		return fmt.Sprintf(pick(l, both{"%d 小时 %d 分", "%d h %d min"}), h, m)
	case m > 0:
		return fmt.Sprintf(pick(l, both{"%d 分 %d 秒", "%d min %d s"}), m, s)
	}
	return fmt.Sprintf(pick(l, both{"%d 秒", "%d s"}), s)
}

// both is a text in both languages.
type both struct{ zh, en string }

func pick(l Lang, b both) string {
	if l == Chinese {
		return b.zh
	}
	return b.en
}

var titles = map[Name]both{
	PermitsBusy:   {"许可将用尽", "permits nearly used up"},
	PermitsSpent:  {"许可已用尽", "permits used up"},
	Refusals:      {"拒绝过多", "many refusals"},
	BreakerOpen:   {"熔断器断开", "breaker open"},
	LevelHigh:     {"负载级别高", "high load level"},
	WaitLong:      {"等待过久", "waits too long"},
	PromiseBroken: {"承诺未兑现", "promise broken"},
	DeadLetter:    {"死信", "dead letter"},
	NodeLost:      {"进程丢失", "process lost"},
	RecorderLag:   {"账本落后", "ledger behind"},
}

var helps = map[Name]both{
	PermitsBusy: {
		"查看是谁占用该供应商；可放慢批量任务，或在合同允许时提高 quota。",
		"See who crowds the vendor; slow batches down, or raise its quota if the contract allows it.",
	},
	PermitsSpent: {
		"新工单正在排队：暂停 batch 通道，增加供应商，或在合同允许时提高 quota。",
		"New tickets wait in line: pause the lane batch, add a vendor, or raise the quota if the contract allows it.",
	},
	Refusals: {
		"按原因查看拒绝：queue_full 表示容量不足，rate_limited 表示某个租户发送过快。",
		"See the refusals by code: queue_full is too little capacity, rate_limited a tenant that sends too fast.",
	},
	BreakerOpen: {
		"查看供应商或工具自身的状态；恢复后熔断器会自行闭合，也可手动闭合。",
		"Look at the state of the vendor or tool itself; the breaker closes by itself once it is well, or by hand.",
	},
	LevelHigh: {
		"在概览中查看原因；此时部分问题由较低层级回答。供应商变慢、出错或通道积压都会升级。",
		"See its cause in the overview; lower rungs answer meanwhile. Slow or failing vendors and full lanes raise it.",
	},
	WaitLong: {
		"确认调度进程在运行、通道未被暂停；必要时用后备答案回复等待中的工单。",
		"Check that dispatchers run and the lane is not paused; if need be answer what waits with the fallback.",
	},
	PromiseBroken: {
		"在“短信与承诺”中查看这些客户并主动联系；查找逾期的原因。",
		"Find the customers under SMS and promises and get in touch; look why the answer came too late.",
	},
	DeadLetter: {
		"在“死信”中查看原因，修复后重新入队。",
		"See the cause under dead letters, and requeue them once it is mended.",
	},
	NodeLost: {
		"查看该主机的日志：进程被杀死、崩溃或断网。其工单已由其他进程接管。",
		"Look at the host's log: the process was killed, crashed or cut off. Others have taken its tickets over.",
	},
	RecorderLag: {
		"检查 PostgreSQL 和 recorder 进程；事件保留期（默认 7 天）内会自动补齐。",
		"Check PostgreSQL and the recorder; it catches up by itself while events are kept, 7 days by default.",
	},
}
