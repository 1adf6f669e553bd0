"""Assertions of the paper map's checks say what differed, although they stand in no test file."""

import pytest

pytest.register_assert_rewrite("paper.map_checks")
