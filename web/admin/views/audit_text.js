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
  filters: {
    actor: "Actor",
    action: "Action, such as lane.pause or lane",
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
  filters: {
    actor: "操作人",
    action: "操作，如 lane.pause 或 lane",
    target: "对象",
  },
};
