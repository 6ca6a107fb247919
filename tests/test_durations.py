import pytest

from sequoia.durations import duration, roughly


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 ms"),
        (3e-9, "under 0.0001 ms"),
        (3.01e-7, "0.0003 ms"),
        (0.0004, "0.4 ms"),
        (0.0123, "12 ms"),
        (0.96, "960 ms"),
        (8.27, "8.3 s"),
        (89.0, "89 s"),
        (300.0, "5 min"),
        (9000.0, "2.5 h"),
        (3.6e7, "10,000 h"),
    ],
)
def test_times_are_said_in_two_digits(seconds, text):
    assert duration(seconds) == text


def test_expected_times_are_rough():
    assert [roughly(seconds) for seconds in (0.2, 7.6, 7200)] == [
        "about 1 s",
        "about 8 s",
        "about 2 h",
    ]
