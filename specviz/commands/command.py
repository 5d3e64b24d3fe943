"""`specviz command`: how to start a server that speculates, and what to know before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specviz.commands.options import JsonOption

if TYPE_CHECKING:
    from specviz.deploy.launch import Launch
    from specviz.deploy.request import Use


def command(
    context: typer.Context,
    framework: Annotated[
        str, typer.Option(help="vllm, sglang, tensorrt-llm, triton or llama.cpp.")
    ],
    model: Annotated[str, typer.Option(help="Folder, file or Hugging Face name of the target.")],
    method: Annotated[
        str, typer.Option(help="Drafting method, of ours or mtp, dflash, dspark.")
    ] = "draft_model",
    draft: Annotated[
        str | None, typer.Option(help="Folder, file or name of the draft model or head.")
    ] = None,
    version: Annotated[
        str | None,
        typer.Option(help="Version of the framework, or of Triton's back end (default: newest)."),
    ] = None,
    k: Annotated[int | None, typer.Option(help="Draft tokens verified per step.")] = None,
    topk: Annotated[int, typer.Option(help="Above 1: a tree, with --depth.")] = 1,
    depth: Annotated[int | None, typer.Option(help="Levels of the tree.")] = None,
    tp: Annotated[int, typer.Option(help="Tensor parallel size.")] = 1,
    pp: Annotated[int, typer.Option(help="Pipeline parallel size.")] = 1,
    dp: Annotated[int, typer.Option(help="Data parallel size.")] = 1,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(help="Port (default: the framework's).")] = None,
    backend: Annotated[
        str | None, typer.Option(help="Triton's back end: vllm (default) or tensorrt-llm.")
    ] = None,
    uses: Annotated[
        list[str] | None,
        typer.Option(
            help="What requests use, once for each: sampling, min_p, logit_bias, logprobs, "
            "structured_output, tool_calls, penalties, images (default: not known)."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Write the files into this folder.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print the command that starts a server, its files and its known problems.

    Arguments after `--` are added to the command.
    """
    from specviz.deploy.files import write
    from specviz.deploy.frameworks import launch_of
    from specviz.deploy.request import Request
    from specviz.models.kept import located

    launch = launch_of(
        Request(
            framework=framework,
            model=located(model),
            method=method,
            draft=draft,
            version=version,
            k=k,
            topk=topk,
            depth=depth,
            tensor_parallel=tp,
            pipeline_parallel=pp,
            data_parallel=dp,
            host=host,
            port=port,
            backend=backend,
            uses=None if uses is None else _uses(uses),
            folder=str(out) if out else "",
            extra=tuple(context.args),
        )
    )
    written = write(launch.files, out) if out else []
    if as_json:
        print(json.dumps(launch.to_dict(), ensure_ascii=False, indent=2))
    else:
        _print(launch, written)


def _uses(words: list[str]) -> frozenset[Use]:
    from specviz.deploy.request import Use
    from specviz.errors import UsageError

    unknown = [word for word in words if word not in set(Use)]
    if unknown:
        raise UsageError(f"--uses {unknown[0]!r} is none of {', '.join(Use)}.")
    return frozenset(map(Use, words))


def _print(launch: Launch, written: list[Path]) -> None:
    """Warnings to standard error, so that the command can be piped; files under their names."""
    for remark in launch.remarks:
        label = f"{remark.effect}: " if remark.effect else ""
        typer.echo(f"! {label}{remark.text}\n  {remark.url or remark.source}", err=True)
    if launch.remarks:
        typer.echo(err=True)
    for name, text in launch.files.items() if not written else ():
        typer.echo(f"# {name}\n{text}")
    for path in written:
        typer.echo(f"# {path}")
    typer.echo(launch.script)
