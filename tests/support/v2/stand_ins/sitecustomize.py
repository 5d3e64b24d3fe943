"""What Triton lacks on a CPU, put in before vLLM is imported: Python imports this file at start."""

import os
import types

if os.environ.get("TRITON_INTERPRET") == "1":
    import inspect

    import triton.backends as backends
    import triton.language as tl
    from triton.language.extra import libdevice
    from triton.runtime import interpreter

    # vLLM's CPU build uses Triton only where there is a backend of this name.
    driver = types.SimpleNamespace(is_active=lambda: True)
    backends.backends["cpu"] = types.SimpleNamespace(driver=driver, compiler=None)
    # The interpreter has none of libdevice; vLLM's rejection sampler needs this one.
    libdevice.log1p = lambda x: tl.log(1 + x)

    # At every call of a device function the interpreter looks through the whole language for what
    # it has to replace: a third of its time. Here it looks once.
    builtins_of: dict[object, list[tuple[str, object]]] = {}

    def replace_builtins(place: object, builder: object, scope: object) -> None:
        if place not in builtins_of:
            members = inspect.getmembers(place)
            builtins_of[place] = [one for one in members if tl.core.is_builtin(one[1])]
        for name, member in builtins_of[place]:
            if getattr(place, name) is member:
                interpreter._patch_attr(place, name, member, builder, scope)

    interpreter._patch_builtin = replace_builtins
