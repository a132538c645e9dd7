// The words of the overview.

export const en = {
  depth: "Depth",
};

export const zh = {
  depth: "排队数",
};
