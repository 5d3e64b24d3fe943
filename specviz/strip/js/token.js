// One token as an element. Form and colour show its outcome; the text is never changed.

import { displayText } from "./text.js";
import { element } from "./dom.js";

const MAX_DRAFT_CHARS = 32; // of a dropped token; the tooltip has all of it

const facts = new WeakMap(); // element -> the token it shows
const rawTexts = new WeakMap(); // text node -> its true text, where the shown one differs

/** `{ arm, step, emitted }` or `{ arm, step, drafted }` of a token's element. */
export function factsOf(node) {
  return facts.get(node);
}

/** The true text of a shown text node. */
export function rawTextOf(node) {
  return rawTexts.get(node) ?? node.data;
}

/** A token of the output; thinking, tool calls and refusals are set apart from the answer. */
export function emittedElement(token, about) {
  const isAside = (token.channel ?? "answer") !== "answer"; // older recordings have none
  const node = element("span", isAside ? "tok aside" : "tok");
  facts.set(node, about);
  if (token.text.includes("\n")) appendLines(node, token);
  else fillBox(node, token.text, token.origin);
  return node;
}

function fillBox(box, text, origin) {
  box.classList.add("box", origin);
  if (text === "") box.classList.add("half");
  else box.append(textNode(text));
}

// A box that spans a line end would leave a sliver on the next line, so each line has its own.
function appendLines(node, token) {
  const lines = token.text.split("\n");
  lines.forEach((line, index) => {
    const isLast = index === lines.length - 1;
    if (isLast && line === "") return;
    const box = element("span", `box ${token.origin}`);
    if (line !== "") box.append(textNode(line));
    if (!isLast) box.append(element("i", "newline"));
    node.append(box);
    if (!isLast) node.append("\n");
  });
}

function textNode(text) {
  const shown = displayText(text);
  const node = document.createTextNode(shown);
  if (shown !== text) rawTexts.set(node, text);
  return node;
}

/** A drafted token that did not make it: small, struck, and never part of a copy. */
export function droppedElement(token, about) {
  const known = token.text !== null && token.text !== undefined;
  const node = element("span", `tok draft ${token.verdict}`);
  if (!known) node.classList.add("unnamed");
  node.append(element("s", "", known ? draftText(token.text) : "?"));
  facts.set(node, about);
  return node;
}

// Not part of the output, so it may be brief: without the spaces around it, and on one line.
function draftText(text) {
  const whole = text.trim() || text;
  const brief = whole.length > MAX_DRAFT_CHARS ? `${whole.slice(0, MAX_DRAFT_CHARS)}…` : whole;
  if (brief === "") return "·";
  return displayText(brief).replace(/\n/g, "⏎").replace(/\t/g, "⇥").replace(/ /g, "␣");
}
