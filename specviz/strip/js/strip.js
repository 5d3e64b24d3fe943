// The strip of one arm: steps appended in blocks, so that its cost is linear in what arrives.
// The browser lays out and skips whole blocks; a block ends at a line end where it can.

import { element } from "./dom.js";
import { droppedElement, emittedElement } from "./token.js";
import { isTree, positionsOf } from "./tree.js";

const BLOCK_TOKENS = 150; // from here on the next line end closes the block
const BLOCK_TOKENS_MAX = 450; // without a line end the block closes at a step
const MAX_DROPPED = 12; // in one place; the inspector has them all

/** A strip inside `parent`. Draws `arm.steps[0 … shown)`. */
export function newStrip(parent, arm) {
  return { parent, arm, revision: arm.revision, shown: 0, steps: [], block: null, tokens: 0 };
}

/**
 * Draw the first `count` steps. Stops early when `deadline` (performance.now()) has passed and
 * returns whether it is done.
 */
export function drawSteps(strip, count, deadline) {
  if (strip.revision !== strip.arm.revision) clearStrip(strip);
  if (count < strip.shown) removeSteps(strip, count);
  while (strip.shown < count) {
    appendStep(strip, strip.arm.steps[strip.shown]);
    strip.shown += 1;
    if ((strip.shown & 15) === 0 && performance.now() > deadline) return strip.shown >= count;
  }
  return true;
}

function clearStrip(strip) {
  strip.parent.replaceChildren();
  Object.assign(strip, { revision: strip.arm.revision, shown: 0, steps: [], block: null, tokens: 0 });
}

function removeSteps(strip, count) {
  for (const parts of strip.steps.splice(count)) {
    for (const part of parts) {
      const block = part.parentElement;
      part.remove();
      if (block.childElementCount === 0) block.remove();
    }
  }
  strip.shown = count;
  strip.block = strip.parent.lastElementChild;
  strip.tokens = strip.block ? strip.block.querySelectorAll(".tok").length : 0;
}

function appendStep(strip, step) {
  const parts = [];
  strip.steps.push(parts);
  let part = openPart(strip, strip.shown, parts);
  for (const node of stepElements(strip.arm, step, strip.shown)) {
    part ??= openPart(strip, strip.shown, parts);
    part.append(node);
    strip.tokens += 1;
    if (endsBlock(strip, node)) part = closeBlock(strip);
  }
  if (part) moveLineEnd(strip, part, parts);
  if (strip.tokens >= BLOCK_TOKENS_MAX) closeBlock(strip);
}

function openPart(strip, index, parts) {
  if (strip.block === null) {
    strip.block = element("div", "block");
    strip.parent.append(strip.block);
    strip.tokens = 0;
  }
  const part = element("span", parts.length ? "step continued" : "step");
  part.dataset.step = String(index);
  strip.block.append(part);
  parts.push(part);
  return part;
}

// A line end inside the step would draw a sliver of the step's outline on the next line.
function moveLineEnd(strip, part, parts) {
  const end = part.lastElementChild?.lastChild;
  if (end?.data !== "\n") return;
  const outside = element("span", "line-end");
  outside.append(end);
  strip.block.append(outside);
  parts.push(outside);
}

function endsBlock(strip, node) {
  return strip.tokens >= BLOCK_TOKENS && node.lastChild?.data === "\n";
}

function closeBlock(strip) {
  strip.block = null;
  return null;
}

/** The tokens of a step as the verifier saw them: accepted, dropped, what came instead. */
export function* stepElements(arm, step, index) {
  const isDrafted = (token) => token.origin === "accepted";
  const about = { arm, step, index };
  if (isTree(step)) {
    yield* treeNodes(step, about);
    return;
  }
  for (const [nth, token] of step.emitted.entries()) {
    if (isDrafted(token)) yield emittedElement(token, { ...about, nth });
  }
  yield* droppedNodes(step, about);
  for (const [nth, token] of step.emitted.entries()) {
    if (!isDrafted(token)) yield emittedElement(token, { ...about, nth });
  }
}

function* droppedNodes(step, about) {
  const dropped = step.drafted.filter((token) => token.verdict !== "accepted");
  for (const drafted of dropped.slice(0, MAX_DROPPED)) {
    yield droppedElement(drafted, { ...about, drafted });
  }
  const rest = dropped.length - MAX_DROPPED;
  if (rest > 0) yield moreElement(rest, "more drafted tokens were not accepted");
}

// Position by position: the candidates that were rejected there, then the token that was output there.
// Most of a tree is never judged: that many are counted, and drawn in the inspector.
function* treeNodes(step, about) {
  const output = [...step.emitted.entries()];
  const accepted = output.filter(([, token]) => token.origin === "accepted");
  let shown = 0;
  for (const position of positionsOf(step)) {
    const rejected = position.candidates.filter((place) => step.drafted[place].verdict === "rejected");
    shown += rejected.length;
    if (rejected.length > 0) yield siblingsElement(step, rejected, about);
    const next = position.accepted === null ? undefined : accepted.shift();
    if (next) yield emittedElement(next[1], { ...about, nth: next[0] });
  }
  const dropped = step.drafted.filter((token) => token.verdict !== "accepted").length;
  if (dropped > shown) yield moreElement(dropped - shown, "more candidates in other branches");
  for (const [nth, token] of output) {
    if (token.origin !== "accepted") yield emittedElement(token, { ...about, nth });
  }
}

// Several candidates for one position, in one frame.
function siblingsElement(step, places, about) {
  const nodes = places.slice(0, MAX_DROPPED).map((place) => {
    const drafted = step.drafted[place];
    return droppedElement(drafted, { ...about, drafted });
  });
  if (nodes.length === 1) return nodes[0];
  const frame = element("span", "siblings");
  frame.append(...nodes);
  const rest = places.length - MAX_DROPPED;
  if (rest > 0) frame.append(moreElement(rest, "more candidates were rejected here"));
  return frame;
}

function moreElement(count, words) {
  const node = element("span", "draft more", `+${count}`);
  node.dataset.tip = `${count} ${words}: click the step to see them`;
  return node;
}
