"""What a plan asks, and what of it no process has finished yet."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from specviz.bench.block import Talk
from specviz.bench.load.load import Load
from specviz.bench.load.places import Place
from specviz.bench.load.traffic import Traffic
from specviz.bench.plan.plan import Plan
from specviz.bench.plan.schedule import Stage, asked, planned_requests, stages
from specviz.bench.repeats import DisturbedBlock, shortened
from specviz.config import EngineKind, Sampling
from specviz.prompts.sets import Conversation
from specviz.store import BenchmarkLog, DisturbedRow, DoneRequest

WARM_UP_TOKENS = 32
INTERRUPTED = "The pass was interrupted: it is measured again from its beginning."


@dataclass(slots=True)
class RequestsLeft:
    """A plan with its prompts. `done` holds what earlier processes finished: answers by round and
    prompt."""

    benchmark_id: str
    plan: Plan
    servers_at_once: int
    conversations: Sequence[Conversation]
    done: dict[tuple[str, int], tuple[str, ...]] = field(default_factory=dict)

    @property
    def stages(self) -> tuple[Stage, ...]:
        return stages(self.plan, self.servers_at_once)

    def planned(self) -> Counter[int]:
        """Requests that the plan asks for, by arm. Raises UsageError where the prompts do not
        suffice."""
        return planned_requests(self.plan, self.servers_at_once, self.conversations)

    def take_up(self, requests: Sequence[DoneRequest], log: BenchmarkLog) -> None:
        """What earlier processes finished, but for passes of traffic that were interrupted: those
        begin again, because half a ramp measures nothing. Raises StoreError."""
        answers: dict[tuple[str, int], dict[int, str]] = defaultdict(dict)
        for request in requests:
            answers[request.round_id, request.prompt_index][request.turn] = request.answer
        self.done = {
            key: tuple(turns[turn] for turn in sorted(turns)) for key, turns in answers.items()
        }
        for round_id, (stage, arm) in self._rounds():
            if not isinstance(stage.load, Traffic):
                continue
            done = [key for key in self.done if key[0] == round_id]
            if done and self.talks(stage, arm):
                log.restart_round(round_id, INTERRUPTED)
                for key in done:
                    del self.done[key]

    def done_by_arm(self) -> Counter[int]:
        """Requests that earlier processes finished, by arm."""
        arm_of = {round_id: arm for round_id, (_, arm) in self._rounds()}
        done: Counter[int] = Counter()
        for (round_id, _), answers in self.done.items():
            done[arm_of[round_id]] += len(answers)
        return done

    def disturbed(self, rows: Sequence[DisturbedRow]) -> Iterator[DisturbedBlock]:
        """The disturbed blocks that an earlier process did not measure again."""
        rounds = dict(self._rounds())
        for row in rows:
            stage, arm = rounds[row.round_id]
            run_id = stage.run_id(self.benchmark_id, arm)
            talks = tuple(self._sent(row, stage, arm))
            yield DisturbedBlock(
                row.block, stage, arm, run_id, row.round_id, talks, row.taken_share
            )

    def by_load(self) -> dict[tuple[int, Load | Traffic], int]:
        """How many conversations are left, by arm and load."""
        left: dict[tuple[int, Load | Traffic], int] = defaultdict(int)
        for stage in self.stages:
            for arm in stage.arms:
                left[arm, stage.load] += len(self.talks(stage, arm))
        return left

    def is_fresh(self, round_id: str) -> bool:
        """Whether no earlier process finished anything of the round."""
        return all(key != round_id for key, _ in self.done)

    def talks(self, stage: Stage, arm: int) -> list[Talk]:
        """The conversations of a round that are not finished yet."""
        key = stage.round_id(self.benchmark_id, arm)
        talks = [
            self._talk(stage, arm, index, self.done.get((key, index), ()), place)
            for index, place in asked(self.plan, stage, self.conversations)
        ]
        return [talk for talk in talks if talk.turns_left]

    def warm_up(self, stage: Stage, arm: int) -> list[Talk]:
        """Short ones in the stage's shape, its prompts over again if need be."""
        prompts = asked(self.plan, stage, self.conversations)
        count = max(self.plan.warmup, stage.load.most_at_once)
        chosen = [prompts[number % len(prompts)] for number in range(count)]
        return [self._short(self._talk(stage, arm, index, (), place)) for index, place in chosen]

    def _rounds(self) -> Iterator[tuple[str, tuple[Stage, int]]]:
        for stage in self.stages:
            for arm in stage.arms:
                yield stage.round_id(self.benchmark_id, arm), (stage, arm)

    def _sent(self, row: DisturbedRow, stage: Stage, arm: int) -> Iterator[Talk]:
        """The conversations of a disturbed block, as far as it sent them."""
        turns = defaultdict(list)
        for prompt_index, turn in row.requests:
            turns[prompt_index].append(turn)
        place_of = dict(asked(self.plan, stage, self.conversations))
        for prompt_index in sorted(turns, key=[*place_of].index):
            sent = turns[prompt_index]
            earlier = self.done[row.round_id, prompt_index][: min(sent)]
            talk = self._talk(stage, arm, prompt_index, earlier, place_of[prompt_index])
            yield shortened(talk, max(sent) + 1)

    def _talk(
        self, stage: Stage, arm: int, index: int, answers: tuple[str, ...], place: Place | None
    ) -> Talk:
        """Only the embedded engine gets a seed: a server would sample each request of a batch
        separately, which costs time."""
        conversation = self.conversations[index]
        longest = self.plan.max_tokens
        tokens = min(conversation.max_tokens or longest, longest)
        temperature = stage.temperature if place is None else place.temperature
        seed = None
        if temperature > 0 and self.plan.arms[arm].config.engine is EngineKind.EMBEDDED:
            seed = self.plan.seed * 1_000_003 + index * 1009 + stage.repetition
        sampling = Sampling(temperature, 1.0, tokens, seed)
        return Talk(index, conversation, sampling, answers, place)

    @staticmethod
    def _short(talk: Talk) -> Talk:
        tokens = min(WARM_UP_TOKENS, talk.sampling.max_tokens)
        return shortened(replace(talk, sampling=replace(talk.sampling, max_tokens=tokens)), 1)
