"""The shipped model card is the one that `specviz train` writes from the record and the models."""

from pathlib import Path

from specviz.paths import MODELS
from specviz.training.card import write_card


def test_the_shipped_card_is_generated(tmp_path: Path):
    for path in MODELS.iterdir():
        if path.name != "README.md":
            (tmp_path / path.name).symlink_to(path)
    write_card(tmp_path)
    written = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert written == (MODELS / "README.md").read_text(encoding="utf-8")
