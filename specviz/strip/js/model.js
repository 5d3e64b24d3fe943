// What has arrived: arms, their steps, phases and figures. Knows nothing of the page.

/** A run with nothing in it yet. */
export function newRun() {
  return { hello: null, arms: new Map(), verdict: null, ended: false };
}

function newArm(info) {
  return {
    info,
    fidelity: info.fidelity,
    steps: [],
    revision: 0, // grows when the steps are replaced
    seen: 0, // events received, to resume from
    finished: null, // the `finished` event
    figures: null,
    state: { phase: "waiting", note: null },
  };
}

/**
 * Take a hello: the first message of a connection, and again when a server has reported more of an
 * arm. Returns true if it is a run not seen before.
 */
export function takeHello(run, hello) {
  const known = run.hello !== null && sameArms(run.hello.arms, hello.arms);
  run.hello = hello;
  if (known) {
    for (const info of hello.arms) run.arms.get(info.id).info = info;
    return false;
  }
  run.arms = new Map(hello.arms.map((info) => [info.id, newArm(info)]));
  run.verdict = null;
  run.ended = false;
  return true;
}

function sameArms(left, right) {
  return left.map((arm) => arm.id).join("\n") === right.map((arm) => arm.id).join("\n");
}

/** Take a batch. Returns false if events are missing before it: the connection must resume. */
export function takeBatch(run, batch) {
  for (const part of batch.arms ?? []) {
    const arm = run.arms.get(part.id);
    if (arm && !takeArmPart(arm, part)) return false;
  }
  if (batch.verdict) run.verdict = batch.verdict;
  return true;
}

function takeArmPart(arm, part) {
  let events = part.events ?? [];
  if (Number.isInteger(part.from) && events.length > 0) {
    if (part.from > arm.seen) return false;
    events = events.slice(arm.seen - part.from);
  }
  for (const event of events) takeEvent(arm, event);
  arm.seen += events.length;
  if (part.figures) arm.figures = part.figures;
  if (part.state) arm.state = part.state;
  return true;
}

function takeEvent(arm, event) {
  if (event.type === "step") {
    arm.steps.push(event);
  } else if (event.type === "started") {
    arm.fidelity = event.fidelity;
  } else if (event.type === "revised") {
    arm.steps = event.steps.slice();
    arm.fidelity = event.fidelity;
    arm.revision += 1;
  } else if (event.type === "finished") {
    arm.finished = event;
  }
}

/** Events already seen, as the value of `?seen=`; empty before the first event. */
export function seenQuery(run) {
  return [...run.arms]
    .filter(([, arm]) => arm.seen > 0)
    .map(([id, arm]) => `${encodeURIComponent(id)}:${arm.seen}`)
    .join(",");
}

/** End of the longest arm in ms, on the clock that all arms share. */
export function durationMs(run) {
  let longest = 0;
  for (const arm of run.arms.values()) {
    longest = Math.max(longest, arm.steps.at(-1)?.elapsed_ms ?? 0);
  }
  return longest;
}

/** How many steps of an arm have happened at a time of the clock. */
export function stepsAt(arm, ms) {
  let low = 0;
  let high = arm.steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (arm.steps[middle].elapsed_ms <= ms) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The drafted token that became the n-th emitted one, or null. */
export function draftedOf(step, emittedIndex) {
  if (step.emitted[emittedIndex]?.origin !== "accepted") return null;
  const path = step.drafted.filter((token) => token.verdict === "accepted");
  path.sort((left, right) => left.depth - right.depth);
  const nth = step.emitted.slice(0, emittedIndex).filter((token) => token.origin === "accepted");
  return path[nth.length] ?? null;
}
