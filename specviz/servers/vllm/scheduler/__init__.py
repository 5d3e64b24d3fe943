"""K per request: a scheduler for vLLM that follows a policy, part of the plugin.

    scheduler.py   the class that `--scheduler-cls` names: it allows every request its draft
    decision.py    which K a request may use in the next step, and why
    wishes.py      what a request asks for: `vllm_xargs`, `min_p`, `logit_bias`
    admission.py   requests that vLLM refuses with speculation are let in; nonsense is refused
    counts.py      how often which reason decided, for Prometheus

The path of the policy is in the environment variable `SPECVIZ_POLICY`; without it nothing here is
loaded. As in `tracing`, only the standard library is imported at module level.
"""
