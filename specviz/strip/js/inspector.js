// One step as the verifier saw it: cards from depth 1 to K, then what the target added.

import { element, setText } from "./dom.js";
import { formatProbability, tokenName } from "./text.js";
import { childrenOf, isTree, leafOf, positionsOf, whyUnverified } from "./tree.js";
import { INSPECTOR_HINT, UNNAMED, ruleWords, stepSummary, stepTimes } from "./words.js";

/** Fill `root` with step `index` of `arm`. */
export function showStep(root, arm, index) {
  const step = arm.steps[index];
  root.classList.remove("empty");
  root.replaceChildren(heading(arm, step, index), ...body(arm, step));
}

/** Correct the number of steps in the heading while the run goes on. */
export function drawStepCount(root, arm, index) {
  const title = root.querySelector("h3");
  if (title) setText(title, stepTitle(arm, index));
}

function stepTitle(arm, index) {
  return `${arm.info.title} · step ${index + 1} of ${arm.steps.length}`;
}

/** Fill `root` with what to do. */
export function showHint(root) {
  root.classList.add("empty");
  root.replaceChildren(element("p", "hint", INSPECTOR_HINT));
}

function heading(arm, step, index) {
  const head = element("header", "step-head");
  const said = [stepSummary(step), stepTimes(step)].filter(Boolean).join(" · ");
  const close = element("button", "close", "×");
  close.setAttribute("aria-label", "close the step");
  head.append(element("h3", "", stepTitle(arm, index)), element("p", "summary", said), close);
  return head;
}

function body(arm, step) {
  if (step.drafted.length === 0) return [];
  const notes = step.drafted.some((token) => token.text === null) ? [unnamedNote(arm)] : [];
  const cards = isTree(step) ? [treeOf(arm, step), candidatesOf(arm, step)] : [chainOf(arm, step)];
  return [...cards, ...notes];
}

function unnamedNote(arm) {
  const sentence = arm.fidelity === "inferred" ? "drafts are guessed from chunk sizes; " : "";
  return element("p", "unnamed-note", sentence + UNNAMED);
}

function chainOf(arm, step) {
  const chain = element("ol", "chain");
  for (const drafted of step.drafted) chain.append(draftCard(arm, step, drafted));
  for (const token of ownTokens(step)) chain.append(ownCard(step, token));
  return chain;
}

// A tree reads left to right like a chain: every card has its children in the next column.
function treeOf(arm, step) {
  const tree = element("div", "tree");
  tree.tabIndex = 0;
  tree.setAttribute("role", "group");
  tree.setAttribute("aria-label", "tree of drafted tokens");
  tree.append(branches({ arm, step, children: childrenOf(step), leaf: leafOf(step) }, -1));
  return tree;
}

function branches(about, parent) {
  const { arm, step, children, leaf } = about;
  const list = element("ol", "branches");
  for (const index of children.get(parent) ?? []) {
    const branch = element("li", "branch");
    branch.append(draftCard(arm, step, step.drafted[index], "div"), branches(about, index));
    list.append(branch);
  }
  if (parent === leaf) {
    for (const token of ownTokens(step)) {
      const branch = element("li", "branch");
      branch.append(ownCard(step, token, "div"));
      list.append(branch);
    }
  }
  return list;
}

// The candidates of every position that was judged, in the order of judgement.
function candidatesOf(arm, step) {
  const table = element("table", "candidates");
  table.append(element("caption", "", "candidates by position, in the order of judgement"));
  const head = element("tr");
  for (const name of ["position", "candidate", "target", "draft", "accept", "judgement", "verdict"]) {
    head.append(element("th", "", name));
  }
  table.append(head);
  for (const [nth, { candidates }] of positionsOf(step).entries()) {
    for (const [order, place] of candidates.entries()) {
      table.append(candidateRow(arm, step, step.drafted[place], order === 0 ? nth + 1 : ""));
    }
  }
  return table;
}

function candidateRow(arm, step, drafted, position) {
  const row = element("tr", drafted.verdict);
  const number = (value) => (typeof value === "number" ? formatProbability(value) : "–");
  row.append(
    element("td", "position", String(position)),
    element("td", "name", tokenName(drafted.text)),
    element("td", "number", number(drafted.target_prob)),
    element("td", "number", number(drafted.draft_prob)),
    element("td", "number", number(drafted.accept_prob)),
    element("td", "rule", ruleWords(arm, step, drafted) ?? "–"),
    element("td", "judged", drafted.verdict),
  );
  return row;
}

function ownTokens(step) {
  return step.emitted.filter((token) => token.origin !== "accepted");
}

function draftCard(arm, step, drafted, tag = "li") {
  const card = element(tag, `card ${drafted.verdict}`);
  card.append(
    element("p", "depth", `depth ${drafted.depth}`),
    element("p", "name", tokenName(drafted.text)),
    bar("target", drafted.target_prob, missingTarget(step, drafted)),
    bar("draft", drafted.draft_prob, "the server does not report the draft's probability"),
  );
  const rule = ruleWords(arm, step, drafted);
  if (rule) card.append(element("p", "rule", rule));
  card.append(element("p", "verdict", drafted.verdict));
  if (drafted.verdict === "rejected" && drafted.target_top?.length) card.append(bestOf(drafted));
  return card;
}

function missingTarget(step, drafted) {
  return drafted.verdict === "unverified"
    ? `not judged: ${whyUnverified(step, drafted)}`
    : "the server does not report the target's probability";
}

function ownCard(step, token, tag = "li") {
  const card = element(tag, `card own ${token.origin}`);
  const why = {
    recovered: "drawn by the target in place of the rejected token",
    bonus: "the whole draft was accepted, so the target adds one more",
  }[token.origin];
  card.append(
    element("p", "depth", "from the target"),
    element("p", "name", tokenName(token.text)),
  );
  const known = targetProbability(step, token);
  if (known !== null) card.append(bar("target", known, ""));
  card.append(element("p", "rule", why ?? ""), element("p", "verdict", token.origin));
  return card;
}

// The target's probability of its own token is known only if it was among the five best.
function targetProbability(step, token) {
  const leaf = leafOf(step);
  const rejected = step.drafted.find(
    (drafted) => drafted.parent === leaf && drafted.verdict === "rejected",
  );
  const top = rejected?.target_top?.find((best) => best.token_id === token.token_id);
  return top && token.origin === "recovered" ? top.prob : null;
}

function bar(label, value, reason) {
  const known = typeof value === "number";
  const row = element("div", `bar-row of-${label}`);
  const track = element("span", "track");
  const fill = element("span", "fill");
  fill.style.inlineSize = known ? `${Math.min(1, value) * 100}%` : "0";
  track.append(fill);
  const number = element("span", "number", known ? formatProbability(value) : "–");
  row.append(element("span", "label", label), track, number);
  if (!known) {
    row.dataset.tip = reason;
    row.tabIndex = 0;
  }
  return row;
}

function bestOf(drafted) {
  const list = element("ol", "best");
  list.setAttribute("aria-label", "the target's five best");
  for (const top of drafted.target_top) {
    const item = element("li");
    item.append(
      element("span", "best-name", tokenName(top.text)),
      element("span", "best-prob", formatProbability(top.prob)),
    );
    list.append(item);
  }
  return list;
}
