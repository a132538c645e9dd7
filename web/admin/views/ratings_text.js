// The words of the ratings.

export const en = {
  ratings: "Ratings",
  score: "Score",
  comment: "Comment",
  ticket: "Ticket",
  intent: "Intent",
  tenantName: "Tenant name",
};

export const zh = {
  ratings: "评价",
  score: "评分",
  comment: "评语",
  ticket: "工单",
  intent: "意图",
  tenantName: "租户名",
};
