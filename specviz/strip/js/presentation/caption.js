// One step in a sentence or two, as one would say it to colleagues: what happened, and why.

import { tokenName } from "../text.js";
import { isTree, leafOf } from "../tree.js";
import { NOTHING_REPORTED, allowedWords } from "../words.js";

/** Parts of the caption of a step: strings, and `{ code }` where a token is named. */
export function caption(arm, step) {
  return [...whatHappened(arm, step), ...limit(step)];
}

function whatHappened(arm, step) {
  const own = step.emitted.find((token) => token.origin !== "accepted");
  if (step.drafted.length === 0) return withoutDraft(step);
  const rejected = decisive(step);
  const accepted = step.drafted.filter((token) => token.verdict === "accepted").length;
  if (rejected === null) return [counts(step, accepted), ...allAccepted(step, accepted, own)];
  return [counts(step, accepted), ". ", ...why(arm, rejected), ...instead(rejected, own)];
}

function limit(step) {
  const words = allowedWords(step);
  return words === null ? [] : [` ${words[0].toUpperCase()}${words.slice(1)}.`];
}

function name(text) {
  return { code: tokenName(text) };
}

function probability(value) {
  return value > 0 && value < 0.005 ? "less than 0.01" : value.toFixed(2);
}

function known(value) {
  return typeof value === "number";
}

function counts(step, accepted) {
  return `${step.drafted.length} drafted, ${accepted === step.drafted.length ? "all" : accepted} accepted`;
}

function withoutDraft(step) {
  const names = step.emitted.flatMap((token) => [" ", name(token.text)]);
  if (step.emitted.some((token) => token.origin !== "target")) {
    return [`${NOTHING_REPORTED}; it sent`, ...names, "."];
  }
  return names.length ? ["Nothing was drafted: the target wrote", ...names, "."] : ["Nothing was drafted."];
}

// The rejection that ended the accepted path; of several candidates there, the one judged first.
function decisive(step) {
  const leaf = leafOf(step);
  return step.drafted.find((token) => token.parent === leaf && token.verdict === "rejected") ?? null;
}

function allAccepted(step, accepted, own) {
  const whole = isTree(step) ? ": one branch to its end" : "";
  if (own?.origin === "bonus") return [`${whole}. The target adds `, name(own.text), " as a bonus."];
  return accepted === step.drafted.length ? [". The answer ends here."] : [`${whole}.`];
}

function why(arm, rejected) {
  if (rejected.text === null) return ["The server counts rejected tokens but does not name them"];
  const token = name(rejected.text);
  const { target_prob: target, draft_prob: draft, accept_prob: accept, u } = rejected;
  if (known(u) && known(target) && known(draft)) {
    const draw = `, and the draw was ${probability(u)}: rejected`;
    return ["The target gave ", token, ` ${probability(target)}, the draft ${probability(draft)}${draw}`];
  }
  if (known(u) && known(accept)) {
    return [token, ` is kept with probability ${probability(accept)}, and the draw was ${probability(u)}: rejected`];
  }
  const given = known(target) ? `, which gave it ${probability(target)}` : "";
  if (arm.info.rule === "typical") return [token, ` is not typical enough for the target${given}: rejected`];
  if (known(accept) || known(target)) return [token, ` is not the first choice of the target${given}: rejected`];
  return [token, " was rejected"];
}

function instead(rejected, own) {
  if (own?.origin !== "recovered") return ["."];
  if (known(rejected.u)) return [". ", name(own.text), " is drawn from what the target has more of."];
  const best = rejected.target_top?.find((token) => token.token_id === own.token_id);
  const given = known(best?.prob) ? `, which it gave ${probability(best.prob)}` : "";
  return [". The target writes ", name(own.text), `${given}.`];
}
