"""Random drafts through vLLM's own V2 rejection sampler, with the recorder hooked into it.

A program, because Triton's stand-ins have to be there before vLLM is imported:

    python random_drafts.py RULE NUM_DRAFTS SEED

prints a JSON document: what was checked, and the first lines that do not say what the kernels did.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
import vllm
from vllm.v1.worker.gpu.sample import gumbel
from vllm.v1.worker.gpu.spec_decode import rejection_sampler

from specviz.servers.vllm.tracing.v2 import seam

VOCABULARY, MAX_REQUESTS, MAX_K = 48, 16, 8
TEMPERATURES = (0.0, 0.7, 1.3)
CLOSE = 2e-5
"""Of probabilities, and of u to the acceptance probability: closer than float32 can tell."""

tl_rand32 = gumbel.tl_rand32
Kept = list[tuple[str, Callable[[], Any]]]


@triton.jit
def _rand_kernel(seeds, positions, out, count: tl.constexpr):  # type: ignore[no-untyped-def]
    at = tl.arange(0, count)
    value = tl_rand32(tl.load(seeds + at), tl.load(positions + at), includes_zero=False)
    tl.store(out + at, value)


def drawn(seeds: list[int], positions: list[int]) -> list[float]:
    """What the kernels draw, of at most `MAX_K` drafted tokens at once."""
    spare = [0] * (MAX_K - len(seeds))
    out = torch.zeros(MAX_K)
    inputs = torch.tensor([*seeds, *spare]), torch.tensor([*positions, *spare])
    _rand_kernel[(1,)](*inputs, out, count=MAX_K)
    return out.tolist()[: len(seeds)]


@dataclass
class Writer:
    """In place of the spool's."""

    kept: Kept = field(default_factory=list)

    def append(self, key: str, line: Callable[[], Any]) -> None:
        self.kept.append((key, line))

    def finish(self, key: str) -> None: ...


@dataclass
class Batch:
    """One step: `lengths` of the drafts, the sampler's tensors, and who is traced."""

    k: int
    lengths: list[int]
    states: list[int]
    temperature: torch.Tensor
    seeds: torch.Tensor
    logits: torch.Tensor
    draft_logits: torch.Tensor | None
    ids: torch.Tensor
    positions: torch.Tensor
    prefill: torch.Tensor
    seq_lens: torch.Tensor
    invalid: torch.Tensor
    traced: list[bool]

    @property
    def starts(self) -> np.ndarray:
        return np.cumsum([0, *(length + 1 for length in self.lengths)]).astype(np.int32)

    @property
    def key(self) -> list[str]:
        return [f"specviz-{row:032x}" for row in range(len(self.lengths))]

    def input_batch(self) -> SimpleNamespace:
        starts, states = self.starts, np.array(self.states, dtype=np.int32)
        counts = np.diff(starts)
        return SimpleNamespace(
            req_ids=[
                f"cmpl-{key}-0-0123abcd" if traced else f"cmpl-{row}"
                for row, (key, traced) in enumerate(zip(self.key, self.traced, strict=True))
            ],
            num_reqs=len(self.lengths),
            idx_mapping=torch.from_numpy(states),
            idx_mapping_np=states,
            expanded_idx_mapping=torch.from_numpy(np.repeat(states, counts)),
            expanded_local_pos=torch.tensor([i for count in counts for i in range(count)]).int(),
            cu_num_logits=torch.from_numpy(starts),
            cu_num_logits_np=starts,
            input_ids=self.ids,
            positions=self.positions,
            logits_indices=torch.arange(len(self.ids)),
            seq_lens=self.seq_lens,
            seq_lens_cpu_upper_bound=self.seq_lens,
        )


def random_batch(random: np.random.Generator, *, has_draft_logits: bool) -> Batch:
    k, count = int(random.integers(1, MAX_K + 1)), int(random.integers(1, MAX_REQUESTS + 1))
    states = random.permutation(MAX_REQUESTS)[:count].tolist()
    lengths = random.integers(0, k + 1, count).tolist()
    temperature = torch.tensor(random.choice(TEMPERATURES, MAX_REQUESTS), dtype=torch.float32)
    draft_logits = torch.from_numpy(random.normal(0, 2, (MAX_REQUESTS, k, VOCABULARY))).float()
    spread, logits, ids, positions, invalid, seq_lens = random.uniform(0.1, 2), [], [], [], [], []
    prefill = torch.full((MAX_REQUESTS,), 10, dtype=torch.int32)
    for state, length in zip(states, lengths, strict=True):
        kind = random.choice(["usual"] * 8 + ["prefill", "placeholders"])
        begin = int(random.integers(10, 2**20)) if kind == "usual" else int(random.integers(1, 9))
        seq_lens.append(begin + 1 + length if kind == "usual" else 9 if kind == "prefill" else 10)
        ids.append(int(random.integers(VOCABULARY)))
        for at in range(length + 1):
            positions.append(begin + at)
            row = random.normal(0, 2, VOCABULARY)
            if at < length:
                drafter = draft_logits[state, at].numpy()
                row = drafter + random.normal(0, spread, VOCABULARY)
                scale = float(temperature[state]) or 1.0
                weights = np.exp(drafter.astype(np.float64) / scale)
                ids.append(int(random.choice(VOCABULARY, p=weights / weights.sum())))
            row[random.random(VOCABULARY) < 0.1] = -np.inf  # as top-p, top-k and grammars do
            row[int(random.integers(VOCABULARY))] = 1.0
            invalid.append(at > 0 and random.random() < 0.02)
            if invalid[-1]:
                logits[-1][ids[len(logits)]] = -np.inf
            logits.append(row)
    return Batch(
        k, lengths, states, temperature,
        torch.from_numpy(random.integers(-(2**63), 2**63 - 1, MAX_REQUESTS)),
        torch.from_numpy(np.array(logits)).float(),
        draft_logits if has_draft_logits else None,
        torch.tensor(ids, dtype=torch.int32), torch.tensor(positions), prefill,
        torch.tensor(seq_lens, dtype=torch.int32), torch.tensor(invalid),
        (random.random(count) < 0.8).tolist(),
    )  # fmt: skip


class Target:
    """What the rejection sampler asks of vLLM's `Sampler`: temperature by vLLM's own kernel."""

    compute_nans = return_sampling_mask = use_fp64_gumbel = False
    logprobs_mode = "raw_logprobs"

    def __init__(self, batch: Batch) -> None:
        both = lambda tensor: SimpleNamespace(gpu=tensor, np=tensor.numpy())  # noqa: E731
        self.sampling_states = SimpleNamespace(
            temperature=both(batch.temperature),
            seeds=both(batch.seeds),
            max_num_logprobs=lambda states: rejection_sampler.NO_LOGPROBS,
        )
        self.req_states = SimpleNamespace(prefill_len=SimpleNamespace(gpu=batch.prefill))

    def apply_sampling_params(self, logits: torch.Tensor, states: Any, *rest: Any) -> torch.Tensor:
        logits = logits.clone()
        gumbel.apply_temperature(logits, states, self.sampling_states.temperature.gpu)
        return logits


def verified(batch: Batch, rule: str) -> tuple[dict[str, Any], torch.Tensor, torch.Tensor]:
    """The lines by key, and the sampler's own ids and counts."""
    speculative = SimpleNamespace(
        method="draft_model" if batch.draft_logits is not None else "ngram",
        num_speculative_tokens=batch.k,
        enable_adaptive_verification=False,
        rejection_sample_method=rule,
        synthetic_acceptance_rates=[0.7 * 0.8**at for at in range(batch.k)],
        fly_entropy_threshold=0.3,
        fly_entropy_top_k=3,
        fly_window_size=2,
    )
    target = Target(batch)
    sampler = rejection_sampler.RejectionSampler(target, speculative, torch.device("cpu"))
    invalid = batch.invalid if batch.invalid.any() else None

    def sample(hidden_states: Any, input_batch: Any, grammar_output: Any) -> Any:
        output = sampler(batch.logits, input_batch, batch.draft_logits, invalid)
        return output, output.num_sampled, output.num_rejected

    runner = SimpleNamespace(
        device=torch.device("cpu"),
        vllm_config=SimpleNamespace(speculative_config=speculative),
        batch_sharder=None,
        sampler=target,
        rejection_sampler=sampler,
        speculator=SimpleNamespace(propose=lambda input_batch: None),
        execute_model=lambda scheduler_output: None,
        sample=sample,
        num_speculative_steps=batch.k,
        vocab_size=VOCABULARY,
    )
    writer, input_batch = Writer(), batch.input_batch()
    seam.install(runner, writer)
    new = [SimpleNamespace(req_id=request_id) for request_id in input_batch.req_ids]
    runner.execute_model(SimpleNamespace(scheduled_new_reqs=new, finished_req_ids=set()))
    output, num_sampled, _ = runner.sample(None, input_batch, None)
    lines = {key: line() for key, line in writer.kept}
    return lines, output.sampled_token_ids, num_sampled


@dataclass(frozen=True)
class Expected:
    """Worked out in float64 from the logits: p, q, h of the rule, and Triton's u."""

    drafted: list[int]
    target: np.ndarray
    draft: np.ndarray
    accept: list[float]
    u: list[float | None]


def softmax(rows: np.ndarray) -> np.ndarray:
    weights = np.exp(rows - rows.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def expected(batch: Batch, row: int, rule: str) -> Expected:
    state, start, length = batch.states[row], int(batch.starts[row]), batch.lengths[row]
    temperature = float(batch.temperature[state]) or 1.0
    if int(batch.positions[start]) < 10:
        length = 0  # placeholders
    at, ids = np.arange(length), batch.ids[start + 1 : start + 1 + length].numpy()
    target = softmax(batch.logits[start : start + length].double().numpy() / temperature)
    seeds = [int(batch.seeds[state])] * length
    if rule == "block" and hasattr(gumbel, "spec_step_seed"):
        seeds = [seed ^ (step << 32) for step, seed in enumerate(seeds)]
    u = drawn(seeds, batch.positions[start : start + length].tolist()) if length else []
    if batch.draft_logits is None:
        one_hot = np.zeros_like(target)
        one_hot[at, ids] = 1.0
        drafter = one_hot
    else:
        drafter = softmax(batch.draft_logits[state, :length].double().numpy() / temperature)
    p, q = target[at, ids], drafter[at, ids]
    invalid = batch.invalid[start + 1 : start + 1 + length].numpy()
    accept = [float(min(1.0, one)) for one in p / q]
    if rule == "block":
        accept = list(prefixes(target, drafter, p / q, invalid))
    accept = [0.0 if out else one for one, out in zip(accept, invalid, strict=True)]
    u = [None if out else one for one, out in zip(u, invalid, strict=True)]
    return Expected(ids.tolist(), p, q, accept, u)


def prefixes(
    target: np.ndarray, drafter: np.ndarray, ratios: np.ndarray, invalid: np.ndarray
) -> Iterator[float]:
    """Block verification's h, from arXiv 2403.10444."""
    joint = 1.0
    for at, ratio in enumerate(ratios):
        joint = joint if invalid[at] else min(1.0, joint * ratio)
        if at + 1 == len(ratios) or invalid[at + 1]:
            yield joint
            continue
        residual = float(np.maximum(joint * target[at + 1] - drafter[at + 1], 0).sum())
        weight = residual + 1 - joint
        yield residual / weight if weight > 0 else 1.0


def problems(batch: Batch, rule: str, counts: Counter[str]) -> Iterator[str]:
    lines, sampled, num_sampled = verified(batch, rule)
    for row, (key, traced) in enumerate(zip(batch.key, batch.traced, strict=True)):
        line = lines.get(key)
        if not traced or not int(num_sampled[row]):
            if line is not None:
                yield f"{key} has a line it should not have"
            continue
        if line is None or "error" in line:
            yield f"{key} has no line: {line}"
            continue
        wanted = expected(batch, row, rule)
        emitted = sampled[row, : int(num_sampled[row])].tolist()
        if line["drafted"] != wanted.drafted or line["emitted"] != emitted:
            yield f"{key}: ids {line['drafted']} {line['emitted']}, {wanted.drafted} {emitted}"
            continue
        if line["drafted"]:
            counts["drafts"] += 1
            yield from problems_of_a_draft(batch, row, rule, line, wanted, counts)


def problems_of_a_draft(
    batch: Batch, row: int, rule: str, line: Any, wanted: Expected, counts: Counter[str]
) -> Iterator[str]:
    greedy = float(batch.temperature[batch.states[row]]) == 0.0
    accepted, length = line["num_accepted"], len(line["drafted"])
    judged = min(accepted + 1, length)
    if np.abs(np.array(line["target_probs"]) - wanted.target).max() > CLOSE:
        yield f"target_probs {line['target_probs']} instead of {wanted.target}"
    drafter = wanted.draft
    if np.abs(np.array(line["draft_probs"]) - drafter).max() > CLOSE:
        yield f"draft_probs {line['draft_probs']} instead of {drafter}"
    if [len(top) for top in line["top"]] != [5] * judged:
        yield f"top {line['top']}"
    if rule == "standard" and greedy:
        firsts = [top[0][0] for top in line["top"]]
        verdicts = [line["drafted"][at] == firsts[at] for at in range(judged)]
        if verdicts != [at < accepted for at in range(judged)] or set(line["u"]) != {None}:
            yield f"greedy: {line['drafted']} against {firsts}, accepted {accepted}"
        return
    if greedy and rule != "synthetic":
        return
    if line["u"][:judged] != wanted.u[:judged]:
        yield f"u {line['u']} instead of {wanted.u}"
    if rule in ("standard", "block") and not np.allclose(
        line["accept_probs"][:judged], wanted.accept[:judged], atol=50 * CLOSE
    ):
        yield f"accept_probs {line['accept_probs']} instead of {wanted.accept}"
    if rule == "fly":
        return
    for at in range(judged):
        u, accept = line["u"][at], line["accept_probs"][at]
        counts["judged"] += 1
        if u is None:
            if at < accepted:
                yield f"token {at} is accepted, and the grammar had ruled it out"
        elif abs(u - accept) < CLOSE:
            counts["ties"] += 1
        elif rule == "block" and at < accepted - 1:
            counts["carried"] += u > accept
        elif (u <= accept) != (at < accepted):
            yield f"u {u} against {accept}, {at} of {accepted} accepted"


def main(rule: str, num_drafts: int, seed: int) -> None:
    random, counts, found = np.random.default_rng(seed), Counter[str](), list[str]()
    whole = rejection_sampler.MAX_CHUNK_BYTES
    while counts["drafts"] < num_drafts:
        counts["steps"] += 1
        rejection_sampler.MAX_CHUNK_BYTES = 12 * 4 * VOCABULARY if counts["steps"] % 3 else whole
        batch = random_batch(random, has_draft_logits=bool(counts["steps"] % 2))
        found += problems(batch, rule, counts)
    print(json.dumps({"vllm": vllm.__version__, **counts, "problems": found[:5]}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
