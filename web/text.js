// The widget's own words. What the bot says comes from the server, in the language of
// the question. Other languages: text_zh.js.

import { simplified, traditional } from "./text_zh.js";

const english = {
  tag: "en",
  title: "Customer service",
  open: "Open chat",
  unread: (n) => `Open chat, ${n} unread`,
  close: "Close chat",
  renew: "New conversation",
  renewAsk: "Begin a new conversation? This one is not shown any more.",
  renewYes: "Begin",
  renewNo: "Keep this one",
  placeholder: "Write a message…",
  send: "Send",
  left: (n) => `${n} characters left`,
  log: "Conversation",
  bot: "Assistant",
  human: "Our team",
  ai: "AI",
  aiLong: "Written by AI",
  you: "You",
  greeting: "Hello! What can I do for you? Ask about an order, a delivery, a refund…",
  note: "Answers are written by AI and may contain mistakes.",
  sending: "Sending…",
  accepted: "Delivered",
  thinking: "Writing an answer…",
  typing: "is writing…",
  stop: "Stop",
  retry: "Send again",
  choices: "Questions to choose from",
  confirm: "Your answer",
  yes: "Yes",
  no: "No, thanks",
  position: (n) => (n <= 1 ? "You are next" : `Number ${n} in the queue`),
  eta: (s) => `about ${s} s`,
  phone: {
    offer: "Text me the answer",
    label: "Mobile number",
    hint: "If the answer takes longer, we text you. It is used for nothing else.",
    waiting: "Your question is asked again with this number.",
    example: "+1 212 555 0123",
    bad: "Please write it with its country code, such as +1 212 555 0123.",
    save: "Use",
    on: (number) => `We text ${number} if it takes longer.`,
    remove: "Remove",
  },
  promise: {
    promised: (at) => `We will text you the answer by ${at}.`,
    sent: "A text message is on its way to you.",
    delivered: "We have texted you.",
    met: "Answered here, so no text message is sent.",
    broken: "Sorry, we could not keep our promise to text you. Please ask again.",
    cancelled: "No text message will be sent.",
  },
  owner: {
    queue: "Passed on to our team. You may go on writing here.",
    human: "You are now talking to a person.",
    bot: "You are now talking to the assistant again.",
  },
  ownerState: { queue: "With our team", human: "With our team" },
  rating: {
    ask: "Rate this answer",
    label: "How good was this answer?",
    stars: (n) => (n === 1 ? "1 star" : `${n} stars`),
    comment: "Anything to add? (optional)",
    send: "Send rating",
    thanks: "Thank you!",
  },
  state: {
    connecting: "Connecting…",
    online: "Online",
    waiting: "Reconnecting…",
    stopped: "Not available",
  },
  refused: {
    queue_full: "Very busy right now. Your message is sent again by itself.",
    rate_limited: "A little fast. Your message is sent again by itself.",
    again: "A moment's trouble. Your message is sent again by itself.",
    other: "Could not be sent.",
    many: "Several messages are still being sent. One moment.",
  },
  problem: {
    in_effect: "This is being carried out already and cannot be stopped.",
    other: "That did not work. Please try again.",
  },
  ended: {
    cancelled: "Stopped.",
    failed: "Sorry, this could not be answered. Please ask again.",
  },
  stopped: {
    4500: "This chat is not set up correctly.",
    4504: "The chat is open in too many windows. Close some and reload the page.",
    4507: "This chat may not be used on this page.",
    other: "The chat has stopped. Please reload the page.",
  },
};

// words returns the texts for a language tag; whatever is not Chinese is English.
export function words(locale) {
  if (!/^zh\b/i.test(locale)) return english;
  return /\b(hant|tw|hk|mo)\b/i.test(locale) ? traditional : simplified;
}

// repliesIn returns the words for an answer to a message in a language, in the widget's own
// script where both are Chinese.
export function repliesIn(locale, own) {
  const asked = locale ? words(locale) : own;
  return asked !== english && own !== english ? own : asked;
}

const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g; // pasted by accident

// clean takes out what no message may hold.
export function clean(text) { return text.replace(/\r\n?/g, "\n").replace(controls, "").trim(); }
