// What the strip says, in one place: verdicts, origins, fidelity, phases.

import { formatMs, formatPair, tokenName } from "./text.js";
import { whyUnverified } from "./tree.js";

const ORIGIN_WORDS = {
  accepted: "accepted: drafted, and the target agreed",
  recovered: "recovered: the target's own token after a rejection",
  bonus: "bonus: the target's own token after a fully accepted draft",
  target: "target only: nothing was drafted in this step",
  unknown: "unknown: the server does not say where it came from",
};

const CHANNEL_WORDS = {
  reasoning: "thinking: output beside the answer's text",
  tool_call: "part of a tool call",
  refusal: "part of a refusal",
  markup: "structure: the server sends no text for it",
};

/** What an emitted token is part of; null for the answer's text. */
export function channelWords(token) {
  return CHANNEL_WORDS[token.channel] ?? null;
}

const NOT_REPORTED = "the server does not report what was drafted in this step";
export const NOTHING_REPORTED = `T${NOT_REPORTED.slice(1)}`;
const GUESSED = `most likely accepted, by the size of the chunk: ${NOT_REPORTED}`;

/** Where an emitted token came from, as far as the step says. */
export function originWords(step, token) {
  const guessed = token.origin === "accepted" && step.drafted.length === 0;
  return guessed ? GUESSED : ORIGIN_WORDS[token.origin];
}

export const VERDICT_WORDS = {
  accepted: "accepted",
  rejected: "rejected: the target disagreed",
  unverified: "unverified: drafted, but never judged",
};

export const UNNAMED =
  "the server counts rejected tokens but does not name them; " +
  "start it with specviz serve (or the tracing plugin) to see them";

export const FIDELITY_WORDS = {
  traced: "Traced: every drafted token with its probabilities, as the verifier saw them.",
  counted:
    "Counted: exact numbers of drafted and accepted tokens per step. The server does not name " +
    "rejected tokens; start it with specviz serve (or the tracing plugin) to see them.",
  logged:
    "Logged by another tool: the tokens of every step by their ids, and which were accepted. Its " +
    "log has no text and no probabilities of the target.",
  inferred:
    "Inferred: steps are guessed from the sizes of the streamed chunks. Start the server with " +
    "specviz serve (or the tracing plugin) to see every decision.",
};

export const PHASE_WORDS = {
  waiting: "waiting for the arm before it",
  starting: "starting",
  running: "",
  finished: "",
  failed: "failed",
  cancelled: "cancelled; partial output is kept",
  partial: "interrupted; partial output is kept",
};

export const INSPECTOR_HINT =
  "Click a step to see how each drafted token was judged. " +
  "With the keyboard: Tab into a pane, ← → from step to step, ↑ ↓ from token to token, Enter opens.";

export const NOT_LOSSLESS =
  "Typical acceptance takes what is plausible enough for the target: above temperature 0 the output " +
  "does not follow the target's distribution.";

/**
 * The rule that judged one drafted token, with its numbers; null where nothing is known.
 * `arm.info.rule` is "typical" where that acceptance is at work.
 */
export function ruleWords(arm, step, drafted) {
  if (drafted.verdict === "unverified") return `not judged: ${whyUnverified(step, drafted)}`;
  if (drafted.u === null || drafted.u === undefined) return yesOrNo(arm, drafted);
  const ratio = acceptanceRatio(drafted);
  const threshold = ratio ?? drafted.accept_prob;
  if (threshold === null || threshold === undefined) return `u ${drafted.u.toFixed(2)}`;
  const [u, limit] = formatPair(drafted.u, threshold);
  const sign = drafted.u <= Math.min(1, threshold) ? "≤" : ">";
  const comparison = ratio === null ? `u ${u} ${sign} ${limit}` : `u ${u} ${sign} min(1, ${limit})`;
  const carried = drafted.verdict === "accepted" && drafted.u > Math.min(1, threshold) + CLOSE;
  return carried ? `${comparison}; ${CARRIED}` : comparison;
}

// Servers compare in float32, some of them logarithms.
const CLOSE = 1e-5;
const CARRIED = "accepted with a longer part of the draft (block verification)";

// Nothing is drawn at temperature 0, nor by typical acceptance.
function yesOrNo(arm, drafted) {
  if (drafted.accept_prob === null || drafted.accept_prob === undefined) return null;
  const typical = arm.info.rule === "typical";
  const question = typical ? "typical enough for the target" : "target's first choice";
  return `${question}: ${drafted.accept_prob >= 1 ? "yes" : "no"}`;
}

// The standard rule accepts with min(1, target/draft). Where the engine's own number differs
// (typical acceptance, siblings of a tree) the ratio would explain nothing, so it is left out.
function acceptanceRatio({ target_prob: target, draft_prob: draft, accept_prob: accept }) {
  if (target === null || target === undefined || !draft) return null;
  const ratio = target / draft;
  const agrees = accept === null || accept === undefined || Math.abs(Math.min(1, ratio) - accept) < 0.005;
  return agrees ? ratio : null;
}

/** One line on a step: `drafted 5, accepted 2, then recovered “<=”`. */
export function stepSummary(step) {
  const last = step.emitted.filter((token) => token.origin !== "accepted").at(-1);
  if (step.drafted.length === 0) return [emittedSummary(step), ...policyNotes(step)].join(" · ");
  const accepted = step.drafted.filter((token) => token.verdict === "accepted").length;
  const then = last ? `, then ${last.origin} “${tokenName(last.text)}”` : "";
  const notes = [...draftNotes(step), ...policyNotes(step)];
  return [`drafted ${step.drafted.length}, accepted ${accepted}${then}`, ...notes].join(" · ");
}

/** What the server's policy allowed in a step, and why; null without a policy. */
export function allowedWords({ allowed }) {
  if (!allowed) return null;
  const tokens = allowed.k === 1 ? "draft token" : "draft tokens";
  const limit = allowed.k === 0 ? "no draft allowed" : `at most ${allowed.k} ${tokens} allowed`;
  return `${limit} (${allowed.reason})`;
}

function policyNotes(step) {
  const words = allowedWords(step);
  return words === null ? [] : [words];
}

// How the draft was made, where the engine reports it.
function draftNotes(step) {
  const notes = [];
  if (typeof step.matched_tokens === "number") {
    notes.push(`the lookup matched the last ${step.matched_tokens} tokens`);
  }
  if (step.skipped_layers?.length) notes.push(`${step.skipped_layers.length} sublayers skipped`);
  return notes;
}

function emittedSummary(step) {
  const names = step.emitted.map((token) => `“${tokenName(token.text)}”`).join(" ");
  // Only the target's own token, named as such, says that nothing was drafted.
  if (step.emitted.some((token) => token.origin !== "target")) return `${NOT_REPORTED}; it sent ${names}`;
  return `nothing was drafted; the target produced ${names || "no token"}`;
}

/** `draft 2.6 ms, verify 4.3 ms`, or what of it is known. */
export function stepTimes(step) {
  const parts = [];
  for (const [label, key] of [["draft", "draft_ms"], ["verify", "verify_ms"]]) {
    if (typeof step[key] === "number") parts.push(`${label} ${formatMs(step[key])} ms`);
  }
  const overlaps = parts.length === 2 && step.wall_ms < step.draft_ms + step.verify_ms;
  if (typeof step.wall_ms === "number" && (parts.length === 0 || overlaps)) {
    parts.push(`together ${formatMs(step.wall_ms)} ms`);
  }
  return parts.join(", ");
}
