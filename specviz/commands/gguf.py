"""`specviz gguf`: a model folder as GGUF, the only format that llama.cpp reads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def gguf(
    folder: Annotated[Path, typer.Argument(help="A plain Llama in the format of Hugging Face.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file (default: FOLDER's name with .gguf, here)."),
    ] = None,
) -> None:
    """Write a Hugging Face Llama as a float32 GGUF file for llama.cpp.

    Only LlamaForCausalLM without biases or quantisation, with a byte-level tokenizer as GPT-2,
    SmolLM or Llama 3 have it; for all others take llama.cpp's convert_hf_to_gguf.py.
    `specviz serve --kind llama.cpp` takes folders as they are, and writes the file into a cache.
    """
    from specviz.servers.llama_cpp.conversion.gguf_file import write_gguf

    file = out or Path(f"{folder.resolve().name}.gguf")
    write_gguf(folder, file)
    print(f"{file}  {file.stat().st_size / 1e6:,.1f} MB, float32")
