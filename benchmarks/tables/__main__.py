"""The measured tables in README.md and docs/, written from `benchmarks/results/*.json`.

    python -m benchmarks.tables

A table is a block in the Markdown between two comments; the first one names the result file and the
table. The text between them is generated and must not be edited:

    <!-- figures: benchmarks/results/embedded_speed.json summary -->
    <!-- end of figures -->

A test fails where a block differs from its result file, and where a performance figure is written
outside a block.
"""

from benchmarks.tables.documents import write_tables

if __name__ == "__main__":
    write_tables()
