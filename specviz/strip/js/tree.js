// A draft as a tree: its branches, and the candidates of each position on the accepted path.

const ROOT = -1;

/** Whether several drafted tokens of a step share a parent. */
export function isTree(step) {
  const parents = step.drafted.map((token) => token.parent);
  return new Set(parents).size < parents.length;
}

/** Places of the children in `step.drafted`, by the place of their parent (-1: the context). */
export function childrenOf(step) {
  const children = new Map();
  step.drafted.forEach((drafted, place) => {
    const siblings = children.get(drafted.parent);
    if (siblings) siblings.push(place);
    else children.set(drafted.parent, [place]);
  });
  return children;
}

/**
 * The positions that the verifier reached, from the context on: the candidates there in the order
 * of judgement, and the accepted one or null.
 */
export function positionsOf(step) {
  const children = childrenOf(step);
  const positions = [];
  let candidates = children.get(ROOT);
  while (candidates) {
    const accepted = candidates.find((place) => step.drafted[place].verdict === "accepted") ?? null;
    positions.push({ candidates, accepted });
    candidates = accepted === null ? null : children.get(accepted);
  }
  return positions;
}

/** The last accepted node, after which the target's own token follows; -1 if none was accepted. */
export function leafOf(step) {
  return positionsOf(step).findLast((position) => position.accepted !== null)?.accepted ?? ROOT;
}

/** Why a drafted token was never judged. */
export function whyUnverified(step, drafted) {
  const siblings = step.drafted.filter((other) => other.parent === drafted.parent);
  if (siblings.some((other) => other.verdict === "accepted")) return "another candidate was accepted here";
  const parent = step.drafted[drafted.parent];
  if (isTree(step) && parent?.verdict === "unverified") return "its branch was left";
  return "an earlier token was rejected";
}
