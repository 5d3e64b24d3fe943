"""The SQL editor: highlighting, completion of tables and columns, nothing from the network."""

from specviz.views.query.sql_editor.component import ASKED, sql_editor

__all__ = ["ASKED", "sql_editor"]
