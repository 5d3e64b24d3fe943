"""Every framework, and the launch for a request: the one way in."""

from __future__ import annotations

from dataclasses import replace

from specviz.deploy import llama_cpp, sglang, tensorrt_llm, triton, vllm
from specviz.deploy.framework import Framework
from specviz.deploy.launch import Launch, Remark
from specviz.deploy.problems import TRITON, known_problems
from specviz.deploy.request import METHOD_NAMES, Request
from specviz.deploy.versions import is_of, nearest
from specviz.errors import UsageError
from specviz.methods import Method, record_of

_SERVERS = (vllm.FRAMEWORK, sglang.FRAMEWORK, tensorrt_llm.FRAMEWORK, llama_cpp.FRAMEWORK)
NAMES = (
    vllm.FRAMEWORK.name,
    sglang.FRAMEWORK.name,
    tensorrt_llm.FRAMEWORK.name,
    TRITON,
    llama_cpp.FRAMEWORK.name,
)
BACKENDS = tuple(triton.BACKENDS)


def framework_of(name: str, backend: str | None = None) -> Framework:
    """A framework by name. Raises UsageError for an unknown one, and a back end not Triton's."""
    if name == TRITON:
        return triton.framework(backend)
    if backend is not None:
        raise UsageError(f"A back end is Triton's: leave it out for {name}.")
    found = next((one for one in _SERVERS if one.name == name), None)
    if found is None:
        raise UsageError(f"There is no framework {name!r}: choose from {', '.join(NAMES)}.")
    return found


def launch_of(request: Request) -> Launch:
    """Command, files and remarks for a request.

    Raises UsageError where the framework does not have the combination in that version; the
    sentence names what does.
    """
    framework = framework_of(request.framework, request.backend)
    version = request.version or framework.versions[-1]
    request = replace(request, version=version)
    _check_offered(framework, request.method, version)
    launch = framework.launch(request)
    remarks = (*known_problems(request), *unchecked(framework, version), *launch.remarks)
    return replace(launch, remarks=remarks)


def _check_offered(framework: Framework, method: str, version: str) -> None:
    if method in framework.methods(version):
        return
    names = ", ".join(framework.methods(version))
    sentences = [
        f"{framework.title} {version} does not have {method}; it has {names}.",
        framework.instead.get(method, ""),
        _elsewhere(method),
    ]
    raise UsageError(" ".join(one for one in sentences if one))


def _elsewhere(method: str) -> str:
    """Who has the method, and in which versions."""
    places = []
    for one in _SERVERS:
        offer = one.offers.get(method)
        if offer is not None:
            first = f" from {offer.first}" if offer.first else ""
            last = f" up to {offer.last}" if offer.last else ""
            places.append(f"{one.title}{first}{last}")
    record = record_of(method)
    if record is not None and record.embedded_k is not None:
        places.append("specviz's embedded engine")
    return f"{method} is in {' and in '.join(places)}." if places else ""


def unchecked(framework: Framework, version: str) -> tuple[Remark, ...]:
    """A remark for a version that nobody compared with the package or its source."""
    if any(is_of(version, known) for known in framework.versions):
        return ()
    like = nearest(version, framework.versions)
    return (
        Remark(
            f"This was checked against {framework.checked}, not {version}: the options are those "
            f"of {like}, and some may have another name.",
            framework.checked,
        ),
    )


def methods_of(name: str, backend: str | None = None, version: str | None = None) -> list[str]:
    """The methods of a framework in a version, the baseline first."""
    return list(framework_of(name, backend).methods(version))


def served_methods() -> list[str]:
    """Every method that some framework has in some version, the baseline first."""
    return [
        name
        for name in METHOD_NAMES
        if name == Method.BASELINE or any(name in one.offers for one in _SERVERS)
    ]
