// The strip of one arm: steps appended in blocks, so that its cost is linear in what arrives.
// The browser lays out and skips whole blocks; a block ends at a line end where it can.

import { element } from "./dom.js";
import { droppedElement, emittedElement } from "./token.js";

const BLOCK_TOKENS = 150; // from here on the next line end closes the block
const BLOCK_TOKENS_MAX = 450; // without a line end the block closes at a step
const MAX_DROPPED = 12; // of one step; a tree may drop sixty, the inspector has them all

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
  for (const node of stepNodes(strip.arm, step, strip.shown)) {
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

// In the order the verifier saw them: what was accepted, what was dropped, what came instead.
function* stepNodes(arm, step, index) {
  const isDrafted = (token) => token.origin === "accepted";
  const about = { arm, step, index };
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
  if (dropped.length > MAX_DROPPED) {
    yield element("span", "draft more", `+${dropped.length - MAX_DROPPED}`);
  }
}
