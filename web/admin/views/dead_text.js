// The words of the dead letters.

export const en = {
  deadLetters: "Dead letters",
  none: "No dead letters.",
  total: (n) => `${n} in all, the newest first. They are kept for 90 days.`,
  show: "Show",
  remove: "Remove",
  removed: "Removed",
  requeueLetter: "Asks the question again with a new ticket; the letter goes.",
  removeLetter: "The letter goes; nobody asks its question again. Its ticket stays in the history.",
  shownLetters: "Letters that are listed here",
  requeueShown: "Requeue all listed",
  removeShown: "Remove all listed",
  eachDone: "Done",
  eachGone: "Nothing to do any more",
  eachFailed: "Failed",
};

export const zh = {
  deadLetters: "死信",
  none: "没有死信。",
  total: (n) => `共 ${n} 封，最新的在前，保留 90 天。`,
  show: "查看",
  remove: "删除",
  removed: "已删除",
  requeueLetter: "用新工单再次提问，死信随之移除。",
  removeLetter: "死信被移除，问题不再重问；工单仍在历史中。",
  shownLetters: "当前列出的死信",
  requeueShown: "列出的全部重新排队",
  removeShown: "列出的全部删除",
  eachDone: "已执行",
  eachGone: "已无需执行",
  eachFailed: "失败",
};
