// Copying gives the output exactly as the model wrote it: without rejected drafts, markers and
// visible substitutes for control characters.

import { rawTextOf } from "./token.js";

/** Take over copying inside `top` where the selection in its shadow `root` holds output text. */
export function installCopy(top, root) {
  top.addEventListener("copy", (event) => {
    const text = selectedOutput(root);
    if (text === null) return;
    event.clipboardData.setData("text/plain", text);
    event.preventDefault();
  });
}

/** Whether the reader has marked some text, so that a click is the end of that and no more. */
export function hasSelection(root) {
  const range = selectedRange(root);
  return range !== null && !range.collapsed;
}

function selectedRange(root) {
  const selection = document.getSelection();
  let found = selection.getComposedRanges?.({ shadowRoots: [root] })[0];
  if (!found) {
    const inner = root.getSelection?.() ?? selection;
    if (inner.rangeCount > 0) found = inner.getRangeAt(0);
  }
  if (!found) return null;
  const range = document.createRange();
  range.setStart(found.startContainer, found.startOffset);
  range.setEnd(found.endContainer, found.endOffset);
  return range;
}

// Text per pane in reading order; null if nothing of the output is selected.
function selectedOutput(root) {
  const range = selectedRange(root);
  if (range === null || range.collapsed) return null;
  const parts = new Map();
  for (const node of textNodes(range)) {
    const output = node.parentElement.closest(".text");
    if (!output || node.parentElement.closest(".draft")) continue;
    const from = node === range.startContainer ? range.startOffset : 0;
    const to = node === range.endContainer ? range.endOffset : node.length;
    parts.set(output, (parts.get(output) ?? "") + rawTextOf(node).slice(from, to));
  }
  return parts.size === 0 ? null : [...parts.values()].join("\n");
}

function* textNodes(range) {
  const top = range.commonAncestorContainer;
  if (top.nodeType === Node.TEXT_NODE) {
    yield top;
    return;
  }
  const walker = document.createTreeWalker(top, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    if (range.intersectsNode(walker.currentNode)) yield walker.currentNode;
  }
}
