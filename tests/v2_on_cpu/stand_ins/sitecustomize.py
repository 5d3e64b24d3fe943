"""What Triton lacks on a CPU, put in before vLLM is imported: Python imports this file at start."""

import os
import types

if os.environ.get("TRITON_INTERPRET") == "1":
    import triton.backends as backends
    import triton.language as tl
    from triton.language.extra import libdevice

    # vLLM's CPU build uses Triton only where there is a backend of this name.
    driver = types.SimpleNamespace(is_active=lambda: True)
    backends.backends["cpu"] = types.SimpleNamespace(driver=driver, compiler=None)
    # The interpreter has none of libdevice; vLLM's rejection sampler needs this one.
    libdevice.log1p = lambda x: tl.log(1 + x)
