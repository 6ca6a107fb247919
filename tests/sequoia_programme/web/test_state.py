"""How the server is: for whoever starts it again or watches it, without a word about people."""

import json
import logging

import pytest
from web_cases import DAY, page_of, send, sign_in, with_accounts

from sequoia_programme.store import FILE
from sequoia_programme.tokens import add_token


@pytest.fixture
def programme(tmp_path):
    return with_accounts(tmp_path)


def test_a_server_is_alive_and_ready_or_not(programme):
    client = page_of(programme)
    assert client.get("/health").text == "ok\n"
    assert client.get("/ready").text == "ready\n"
    (programme.folder / FILE).write_bytes(b"")
    assert client.get("/health").status_code == 200
    answer = client.get("/ready")
    assert answer.status_code == 503
    assert str(programme.folder) not in answer.text


def test_numbers_count_requests_plans_and_failures(programme):
    client = page_of(programme)
    sign_in(client, "plan")
    client.get("/")
    client.get("/people/one", params={"who": "Ada"})
    token = add_token(programme, "watch", ["metrics"], 1)
    answer = client.get("/metrics", headers={"authorization": f"Bearer {token}"})
    text = answer.text
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'sequoia_requests_total{method="GET",route="/people/one",status="200"} 1' in text
    assert "sequoia_plans_total 1" in text
    assert "sequoia_plans_waiting 0" in text
    assert "sequoia_failures_total 0" in text
    assert "Ada" not in text
    for line in text.splitlines():
        if not line.startswith("#"):
            float(line.rsplit(" ", 1)[1])


def test_a_line_for_each_request_says_nothing_of_anybody(programme, caplog):
    caplog.set_level(logging.INFO, "sequoia.requests")
    client = page_of(programme)
    sign_in(client, "plan")
    client.get("/people/one", params={"who": "Ada"})
    send(client, "/today/wish", add="never:Ada", date=str(DAY))
    lines = [one.getMessage() for one in caplog.records if one.name == "sequoia.requests"]
    assert json.loads(lines[-1])["route"] == "/today/wish"
    assert {"method", "route", "status", "ms", "at"} == set(json.loads(lines[0]))
    assert not [line for line in lines if "Ada" in line or 'plan"' in line or "?" in line]


def test_cookies_are_for_https_only_where_there_is_https(programme):
    client = page_of(programme)
    client.base_url = "https://localhost"
    answer = sign_in(client, "plan")
    for cookie in answer.headers.get_list("set-cookie"):
        assert "Secure" in cookie
        assert "HttpOnly" in cookie
        assert "SameSite" in cookie
    assert "max-age=" in answer.headers["strict-transport-security"]
