"""Names and texts in SQL: DuckDB reads back what was meant."""

from __future__ import annotations

import duckdb
from hypothesis import given
from hypothesis import strategies as st

from specviz.store.quoting import identifier, literal

TEXTS = st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]) | st.sampled_from("'\"\\;")
)


@given(name=TEXTS.filter(len), text=TEXTS)
def test_duckdb_reads_the_same_name_and_text(name: str, text: str) -> None:
    with duckdb.connect(":memory:") as connection:
        found = connection.execute(f"SELECT {literal(text)} AS {identifier(name)}")
        assert found.description[0][0] == name
        assert found.fetchone() == (text,)
