// The words of the audit.

export const en = {
  audit: "Audit",
  number: "No.",
  action: "Action",
  target: "Target",
  change: "Change",
  before: "Before",
  after: "After",
  show: "Show",
  csv: "Table (CSV)",
  actionHint: "lane stands for all of lanes",
  filters: {
    actor: "Actor",
    action: "Action",
    target: "Target",
  },
};

export const zh = {
  audit: "审计",
  number: "序号",
  action: "操作",
  target: "对象",
  change: "变化",
  before: "之前",
  after: "之后",
  show: "查看",
  csv: "表格（CSV）",
  actionHint: "lane 代表所有通道操作",
  filters: {
    actor: "操作人",
    action: "操作",
    target: "对象",
  },
};
