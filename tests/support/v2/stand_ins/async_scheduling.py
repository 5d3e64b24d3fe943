"""A plugin that leaves a GPU's asynchronous scheduling on, which vLLM switches off on a CPU."""

import logging
from typing import Any

SENTENCE = "Stand-in: asynchronous scheduling stays on"


def register() -> None:
    from vllm.platforms.cpu import CpuPlatform

    original = CpuPlatform.check_and_update_config.__func__
    if getattr(original, "is_stand_in", False):
        return

    def check_and_update_config(cls: Any, config: Any) -> None:
        original(cls, config)
        config.scheduler_config.async_scheduling = True
        logging.getLogger("vllm").info(SENTENCE)

    check_and_update_config.is_stand_in = True  # type: ignore[attr-defined]
    CpuPlatform.check_and_update_config = classmethod(check_and_update_config)
