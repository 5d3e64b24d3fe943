"""Sends each request that LiteLLM's proxy gets to a plain or a speculating server.

Written by `specviz servers route` next to `config.yaml` and `routing.json`, which has the rule:

    model                  what clients ask for; `MODEL/plain` and `MODEL/speculating` answer
    speculating_servers    how many there are
    requests_running       upper ends of the columns, in requests running per speculating server
    rows                   the first that fits a request is its row: temperature and top_p at most
                           the given ones (null fits all), and per column whether to speculate
    refused                parameters that a speculating server refuses

Requests in flight are counted here, because what servers report of themselves is seconds old. One
proxy process counts for itself: start it with one worker.
"""

import json
import time
from pathlib import Path

from litellm.integrations.custom_logger import CustomLogger

RULE = json.loads(Path(__file__).with_name("routing.json").read_text(encoding="utf-8"))
PLAIN, SPECULATING = f"{RULE['model']}/plain", f"{RULE['model']}/speculating"
FORGOTTEN_AFTER_S = 900.0
"""A request whose end LiteLLM never reports is then no longer counted."""


def group_of(request, in_flight):
    """PLAIN or SPECULATING for a request, with `in_flight` others at the speculating servers."""
    if any(request.get(name) for name in RULE["refused"]):
        return PLAIN
    temperature, top_p = (_number(request.get(name)) for name in ("temperature", "top_p"))
    row = next(row for row in RULE["rows"] if _fits(row, temperature, top_p))
    running = in_flight / RULE["speculating_servers"] + 1
    columns = zip(RULE["requests_running"], row["speculates"], strict=True)
    found = next((allowed for most, allowed in columns if running <= most), row["speculates"][-1])
    return SPECULATING if found else PLAIN


def _fits(row, temperature, top_p):
    limits = ((row["temperature"], temperature), (row["top_p"], top_p))
    return all(limit is None or value <= limit for limit, value in limits)


def _number(value):
    """OpenAI's default where a request does not say."""
    return 1.0 if value is None else float(value)


class Routing(CustomLogger):
    def __init__(self):
        super().__init__()
        self.speculating = {}  # when each request in flight was sent there, by LiteLLM's id

    async def async_pre_call_hook(self, user_api_key_dict, cache, data, call_type):
        if data.get("model") != RULE["model"]:
            return data
        now = time.monotonic()
        self.speculating = {
            call: sent for call, sent in self.speculating.items() if now - sent < FORGOTTEN_AFTER_S
        }
        data["model"] = group_of(data, len(self.speculating))
        if data["model"] == SPECULATING:
            self.speculating[data.get("litellm_call_id")] = now
        return data

    async def async_log_success_event(self, kwargs, response_obj, start_time, end_time):
        self.speculating.pop(kwargs.get("litellm_call_id"), None)

    async def async_log_failure_event(self, kwargs, response_obj, start_time, end_time):
        self.speculating.pop(kwargs.get("litellm_call_id"), None)


routing = Routing()
