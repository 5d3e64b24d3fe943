"""A benchmark's samples in, its results out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import pandas as pd

from specviz.analysis.benchmark.cells import (
    category_cells,
    measured,
    whole_cell,
    with_baseline,
)
from specviz.analysis.benchmark.checks import counter_checks
from specviz.analysis.benchmark.disturbance import first_measurements, in_figures
from specviz.analysis.benchmark.k_choice import k_choices
from specviz.analysis.benchmark.notes import result_notes
from specviz.analysis.benchmark.phases.passes import phase_figures
from specviz.analysis.benchmark.phases.shape import Shape
from specviz.analysis.benchmark.results import ArmState, Results, Slo


def summarise(
    arms: Sequence[ArmState],
    samples: pd.DataFrame,
    rounds: pd.DataFrame,
    slo: Slo,
    shapes: Sequence[Shape] = (),
) -> Results:
    """The results of a benchmark, finished or still running.

    `samples` has one row per request:

    - `arm_index`, `server_group` (arms with the same number were measured side by side),
      `round_id`, `temperature`, `concurrency` (NA: Poisson arrivals), `request_rate` per s (NaN:
      closed loop), `repetition`, `prompt_index`, `turn`, `category`
    - `status` (finished, failed or set aside; a failed request has no figures, one that was set
      aside is in none) and `block`: requests of one
      block ran together, `sent_ms` counts from its begin
    - `queue_ms` waited in the client before it was sent, `ttft_ms`, `tpot_ms` (NaN for one token),
      `e2el_ms`, `chunk_ms` (since sent; list or None), `output_tokens` (NA: unknown), `num_steps`,
      `first_tokens` (of the first chunk)
    - `draft_ms`, `overlapped_draft_ms`, `verify_ms`: see `LaneTimes` (NaN: not reported)
    - `num_drafts`, `num_draft_tokens`, `num_accepted_tokens` (NA: unknown), `per_step_accepted`,
      `per_step_drafted` (list or None), `is_chain`, `num_judged_tokens` (of trees; NA: unknown)
    - where blocks were watched: `is_disturbed`, `repeats` (the disturbed block that this one
      repeats, or None), `watched`, `wall_s`, `others_share`, `steal_share`, `throttled_share`,
      `gpu_others_share` of its block; see `Disturbance`

    `rounds` has one row per pass of an arm over the prompts: `round_id`, `arm_index`, `complete`,
    `memory_bytes`, `memory_source`, `gpu_utilization` (0-1), and the server's own counts meanwhile,
    `server_drafts`, `server_draft_tokens`, `server_accepted_tokens` (NA: it does not count).

    Of traffic (`shapes` is what the plan says of it) a request has `traffic`, its `phase` and the
    `phase_ms` of its block; they are in `phases` of the results and in no cell.

    Both may be empty, without columns too. A cell without a finished request is left out.
    """
    counted, samples = first_measurements(samples), in_figures(samples)
    phases = phase_figures(arms, samples, shapes, slo)
    samples = at_steady_loads(samples)
    state_of = {arm.arm_index: arm for arm in arms}
    found = measured(samples, rounds)
    paired = {key: with_baseline(state_of[key.arm_index], key, found) for key in found}
    cells = [(state_of[key.arm_index], key, cell) for key, cell in paired.items()]
    texts = [] if samples.empty else sorted(samples["category"].dropna().unique())
    return Results(
        arms=tuple(arms),
        cells=tuple(whole_cell(*cell, slo) for cell in cells),
        categories=tuple(chain.from_iterable(category_cells(*cell, slo) for cell in cells)),
        checks=counter_checks(arms, counted, rounds),
        notes=result_notes(arms, samples),
        k_choices=tuple(k_choices(arms, paired, [None, *texts])),
        phases=phases,
    )


def at_steady_loads(samples: pd.DataFrame) -> pd.DataFrame:
    """Without the requests of traffic, whose load and temperature changed."""
    return samples[samples["traffic"].isna()] if "traffic" in samples else samples
