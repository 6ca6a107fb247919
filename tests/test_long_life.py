"""A few days of the soak test; `make soak` has two years."""

import pytest
import soak


def test_a_programme_lives_for_some_days(tmp_path, monkeypatch, capsys):
    pytest.importorskip("sqlalchemy")
    monkeypatch.chdir(tmp_path)
    assert soak.live(4, 8, 0) == []
    assert "plans: 4 rows" in capsys.readouterr().out
