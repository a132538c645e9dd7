// The words of the batches.

export const en = {
  batches: "Batches",
  batch: "Batch",
  any: "any",
  batchStates: {
    in_progress: "In progress",
    completed: "Completed",
    cancelled: "Cancelled",
    expired: "Expired",
  },
  lines: "Lines",
  waiting: "Open",
  answered: "Answered",
  failed: "Failed",
  cancelled: "Cancelled",
  eta: "Yet to go",
  made: "Begun",
  expires: "Ended, or expires",
};

export const zh = {
  batches: "批次",
  batch: "批次",
  any: "不限",
  batchStates: {
    in_progress: "进行中",
    completed: "已完成",
    cancelled: "已取消",
    expired: "已过期",
  },
  lines: "行数",
  waiting: "未结束",
  answered: "已答复",
  failed: "失败",
  cancelled: "已取消",
  eta: "预计剩余",
  made: "开始时间",
  expires: "结束或到期",
};
