"""`specviz gguf`: a model folder as GGUF, the only format that llama.cpp reads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from specviz.commands.options import model_folder


def gguf(
    folder: Annotated[
        Any,
        typer.Argument(parser=model_folder, help="A plain Llama in the format of Hugging Face."),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file (default: FOLDER's name with .gguf, here)."),
    ] = None,
    as_stored: Annotated[
        bool,
        typer.Option(
            "--as-stored",
            help="Keep bfloat16 and float16: half the size, but drafts change more greedy answers.",
        ),
    ] = False,
) -> None:
    """Write a Hugging Face Llama as a float32 GGUF file for llama.cpp.

    Only LlamaForCausalLM without biases or quantisation, with a byte-level tokenizer as GPT-2,
    SmolLM or Llama 3 have it; for all others take llama.cpp's convert_hf_to_gguf.py.
    `specviz serve --kind llama.cpp` takes folders as they are, and writes the file into a cache.
    """
    from specviz.servers.llama_cpp.conversion.gguf_file import write_gguf

    file = out or Path(f"{folder.resolve().name}.gguf")
    write_gguf(folder, file, as_stored=as_stored)
    kept = "as stored" if as_stored else "float32"
    print(f"{file}  {file.stat().st_size / 1e6:,.1f} MB, {kept}")
