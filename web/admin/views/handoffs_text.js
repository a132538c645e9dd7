// The words of the handoffs.

export const en = {
  handoffs: "Handoffs",
  ticket: "Ticket",
  session: "Session",
  message: "Message",
  cause: "Cause",
  intent: "Intent",
  owner: "Who has it",
  causes: {
    urgent: "urgent, and no vendor took it",
    tool: "a tool could not be seen through",
    claim: "the reply claimed what was not done",
    rule: "a rule",
  },
  owners: {
    bot: "The bot",
    queue: "Waits for a person",
    human: "A person",
  },
  take: "Take over",
  takeAbout: "From here on the bot says nothing in this session: its open tickets end, its promises are called off.",
  write: "Write",
  writeAbout: "The customer reads it as it is written here. The audit notes who wrote to whom, not what.",
  release: "Give back",
  releaseAbout: "The bot answers in this session again.",
  place: "Place in the session",
};

export const zh = {
  handoffs: "转人工",
  ticket: "工单",
  session: "会话",
  message: "消息",
  cause: "起因",
  intent: "意图",
  owner: "归属",
  causes: {
    urgent: "紧急且没有供应商受理",
    tool: "工具未能完成",
    claim: "答复声称了未做的事",
    rule: "规则",
  },
  owners: {
    bot: "机器人",
    queue: "等待人工",
    human: "人工",
  },
  take: "接管",
  takeAbout: "此后机器人在该会话中不再发言：未结束的工单结束，承诺作废。",
  write: "写消息",
  writeAbout: "客户看到的就是这里写的内容。审计只记录谁写给谁，不记录内容。",
  release: "交还",
  releaseAbout: "机器人重新在该会话中答复。",
  place: "会话中的序号",
};
