// The widget's own words. What the bot says comes from the server, in the language of
// the question.

const en = {
  title: "Customer service",
  open: "Open chat",
  close: "Close chat",
  renew: "New conversation",
  placeholder: "Write a message…",
  send: "Send",
  log: "Conversation",
  bot: "Assistant",
  ai: "AI",
  aiLong: "Written by AI",
  you: "You",
  greeting: "Hello! What can I do for you? Ask about an order, a delivery, a refund…",
  note: "Answers are written by AI and may contain mistakes.",
  sending: "Sending…",
  accepted: "Delivered",
  thinking: "Writing an answer…",
  stop: "Stop",
  retry: "Send again",
  choices: "Questions to choose from",
  position: (n) => (n <= 1 ? "You are next" : `Number ${n} in the queue`),
  eta: (s) => `about ${s} s`,
  state: {
    connecting: "Connecting…",
    online: "Online",
    waiting: "Reconnecting…",
    stopped: "Not available",
  },
  refused: {
    queue_full: "Very busy right now. Your message is sent again by itself.",
    rate_limited: "A little fast. Your message is sent again by itself.",
    draining: "One moment. Your message is sent again by itself.",
    other: "Could not be sent.",
  },
  ended: {
    cancelled: "Stopped.",
    failed: "Sorry, this could not be answered. Please ask again.",
  },
  stopped: {
    4500: "This chat is not set up correctly: its key or identity is not accepted.",
    4504: "The chat is open in too many windows. Close some and reload the page.",
    4507: "This chat may not be used on this page.",
    other: "The chat has stopped. Please reload the page.",
  },
};

const zh = {
  title: "在线客服",
  open: "打开聊天",
  close: "关闭聊天",
  renew: "新的对话",
  placeholder: "请输入您的问题…",
  send: "发送",
  log: "对话内容",
  bot: "智能助手",
  ai: "AI",
  aiLong: "由人工智能生成",
  you: "我",
  greeting: "您好！请问有什么可以帮您？可以问订单、物流、退款等问题。",
  note: "回答由人工智能生成，可能有误，仅供参考。",
  sending: "发送中…",
  accepted: "已送达",
  thinking: "正在回复…",
  stop: "停止",
  retry: "重新发送",
  choices: "可选的问题",
  position: (n) => (n <= 1 ? "下一位就是您" : `您排在第 ${n} 位`),
  eta: (s) => `约 ${s} 秒`,
  state: {
    connecting: "连接中…",
    online: "在线",
    waiting: "正在重新连接…",
    stopped: "暂不可用",
  },
  refused: {
    queue_full: "当前咨询人数较多，消息稍后会自动重新发送。",
    rate_limited: "发送得有点快，消息稍后会自动重新发送。",
    draining: "请稍候，消息会自动重新发送。",
    other: "发送失败。",
  },
  ended: {
    cancelled: "已停止。",
    failed: "抱歉，暂时无法回答，请再问一次。",
  },
  stopped: {
    4500: "聊天未正确配置：密钥或身份未被接受。",
    4504: "打开的聊天窗口过多，请关闭一些后刷新页面。",
    4507: "本页面不允许使用此聊天。",
    other: "聊天已停止，请刷新页面。",
  },
};

// words returns the texts for a language tag; whatever is not Chinese is English.
export function words(locale) {
  return /^zh\b/i.test(locale) ? zh : en;
}
