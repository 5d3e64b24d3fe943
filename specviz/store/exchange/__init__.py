"""Export and import of runs, benchmarks and results of other tools."""

from specviz.store.exchange.exporting import ENDINGS, Exported, Format, export
from specviz.store.exchange.importing import Imported, import_file
from specviz.store.exchange.labels import ImportLabels

__all__ = ["ENDINGS", "Exported", "Format", "ImportLabels", "Imported", "export", "import_file"]
