// Token text as data: how to show what cannot be seen, and how to write numbers.

const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
const SYMBOL_FOR_DELETE = "\u2421";
const SYMBOL_FOR_C1 = "\u2426";

/** Control characters as visible symbols, one for one, so that offsets in the text stay true. */
export function displayText(text) {
  return text.replace(CONTROL, (char) => {
    const code = char.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? SYMBOL_FOR_DELETE : SYMBOL_FOR_C1;
  });
}

// Marks that show nothing by themselves. A joiner inside an emoji is part of a picture.
const INVISIBLE =
  /[\u00ad\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|(?<!\p{Extended_Pictographic}\ufe0f?)\u200d/gu;

/** Text with everything spelled out: spaces, line ends, controls, bidirectional marks. */
export function visibleText(text) {
  return displayText(text)
    .replace(/\n/g, "⏎")
    .replace(/\t/g, "⇥")
    .replace(/ /g, "␣")
    .replace(INVISIBLE, codePointName);
}

function codePointName(mark) {
  return `‹U+${mark.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}›`;
}

/** The name of a drafted token: its text spelled out, or `?` where the server does not report it. */
export function tokenName(text) {
  if (text === null || text === undefined) return "?";
  return text === "" ? "·" : visibleText(text);
}

/** A probability with three decimals. */
export function formatProbability(value) {
  if (value > 0 && value < 0.0005) return "<0.001";
  return value.toFixed(3);
}

/** Milliseconds with three significant digits. */
export function formatMs(value) {
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** Seconds for the clock of the replay. */
export function formatClock(ms) {
  return `${(ms / 1000).toFixed(2)} s`;
}

/** Two numbers of a comparison, with as many decimals as it takes to distinguish them. */
export function formatPair(left, right) {
  for (const digits of [2, 4, 6]) {
    const pair = [left.toFixed(digits), right.toFixed(digits)];
    if (pair[0] !== pair[1] || digits === 6) return pair;
  }
}
