"""``sequoia serve``: what it wants, and what a killed demo leaves."""

import os
import signal
import tempfile

import pytest

from programme_cases import known
from sequoia.cli import main
from sequoia.io import held
from sequoia_programme.accounts import add_account
from sequoia_programme.cli.serve import demo_folder


def test_what_a_killed_demo_left_goes_with_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left, used, other = (tmp_path / f"sequoia-{name}" for name in ("demo-a", "demo-b", "c"))
    for folder in (left, used, other):
        (folder / "clinic").mkdir(parents=True)
    with held(used), demo_folder() as made:
        made.mkdir()
        assert sorted(os.listdir(tmp_path)) == sorted([used.name, other.name, made.parent.name])
        with demo_folder() as second:
            assert made.is_dir()
            assert second.parent != made.parent
    assert sorted(os.listdir(tmp_path)) == sorted([used.name, other.name])


def test_a_demo_that_is_told_to_end_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("sequoia_programme.demo.make_demo", lambda folder, _: folder.mkdir())
    monkeypatch.setattr(
        "sequoia_programme.web.app.serve", lambda *_, **__: signal.raise_signal(signal.SIGTERM)
    )
    usual = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as stop:
        main(["serve", "--demo"])
    signal.signal(signal.SIGTERM, usual)
    assert stop.value.code == 128 + signal.SIGTERM
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "FOLDER or --demo"),
        (["clinic", "--demo"], "FOLDER or --demo"),
        (["nowhere"], "nowhere"),
        (["clinic", "--host", "0.0.0.0"], "account add"),
        (["clinic", "--key", "key.pem"], "--certificate"),
        (["clinic", "--behind-proxy", "*"], "an address such as 127.0.0.1"),
        (["clinic", "--behind-proxy", "127.0.0.1"], "account add"),
    ],
)
def test_what_cannot_be_served_is_one_line(command, tmp_path, arguments, said):
    known(tmp_path)
    outcome = command("serve", *arguments)
    assert outcome.code == 2
    assert said in outcome.err


def test_whoever_is_let_in_by_an_account_needs_no_key(command, tmp_path, monkeypatch):
    programme = known(tmp_path)
    monkeypatch.setattr("uvicorn.run", lambda *_, **__: None)
    here = command("serve", "clinic")
    assert "/enter?key=" in here.out
    assert here.err == ""
    add_account(programme, "anna", "administer", "correct horse battery")
    assert "key=" not in command("serve", "clinic").out


def test_without_tls_other_machines_are_let_in_on_demand_only(command, tmp_path, monkeypatch):
    programme = known(tmp_path)
    add_account(programme, "anna", "administer", "correct horse battery")
    monkeypatch.setattr("uvicorn.run", lambda *_, **__: None)
    refused = command("serve", "clinic", "--host", "0.0.0.0")
    assert refused.code == 2
    assert refused.out == ""
    assert "without TLS others on the network can read passwords" in refused.err
    for more in (("--insecure",), ("--behind-proxy", "192.0.2.1,10.0.0.0/8")):
        assert command("serve", "clinic", "--host", "0.0.0.0", *more).code == 0
