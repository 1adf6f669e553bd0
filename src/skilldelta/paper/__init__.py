"""Everything that only the paper needs: its five suites, `study`, simulated truth for its theory, its tables.

The rest of SkillDelta does without this package, and does not import it.

    from skilldelta.paper import paper_tables, tables_markdown
    from skilldelta.studies import evaluate, load_panels

    tables_markdown(paper_tables(evaluate(load_panels(bank))))
"""

from __future__ import annotations

from skilldelta.paper.beside_paper import beside_paper
from skilldelta.paper.paper_tables import paper_tables
from skilldelta.paper.table import PaperTable, tables_csv, tables_document, tables_latex, tables_markdown

__all__ = [
    "PaperTable",
    "beside_paper",
    "paper_tables",
    "tables_csv",
    "tables_document",
    "tables_latex",
    "tables_markdown",
]
