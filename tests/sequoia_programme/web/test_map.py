"""The map: to scale, north up, and readable where there are many people."""

import pytest
from web_cases import DAY

from sequoia_programme.members import Member
from sequoia_programme.plans import PlannedTask
from sequoia_programme.web.map import WIDTH, draw_map


def _person(number, **facts):
    said = {key: str(value) for key, value in facts.items()}
    return Member(number, f"P{number}", "all", None, None, said, ())


def _visit(who, by="Anna"):
    return PlannedTask(DAY, by, "", who, "visit", None, "", 1.0)


def test_a_degree_of_longitude_is_shorter_in_the_north():
    corners = [(60.0, 10.0), (60.0, 11.0), (60.5, 10.0)]
    people = [_person(n, lat=lat, lon=lon) for n, (lat, lon) in enumerate(corners)]
    drawn = draw_map(people, [])
    place = {spot.name: (spot.x, spot.y) for spot in drawn.spots}
    east = place["P1"][0] - place["P0"][0]
    north = place["P0"][1] - place["P2"][1]
    assert east == pytest.approx(north, rel=0.02)
    assert drawn.unit == "km"
    assert drawn.bar / drawn.scale == pytest.approx(north / (0.5 * 111.2))


def test_places_without_a_unit_have_a_scale_without_one():
    drawn = draw_map([_person(0, x=0, y=0), _person(1, x=10, y=0)], [_visit("P1"), _visit("P0")])
    assert (drawn.unit, drawn.scale) == ("", 2.0)
    assert [spot.order for spot in drawn.spots] == [1, 2]
    assert drawn.routes["Anna"].count(" ") == 1


def test_many_people_are_circles_of_several_and_visits_stay_points():
    people = [_person(n, x=n % 40, y=n // 40) for n in range(800)]
    drawn = draw_map(people, [_visit("P7")])
    assert len(drawn.spots) <= 401
    assert sum(spot.people for spot in drawn.spots) == 800
    assert [spot.name for spot in drawn.spots if spot.order] == ["P7"]
    assert all(0 <= spot.x <= WIDTH and 0 <= spot.y <= WIDTH for spot in drawn.spots)


def test_without_places_there_is_no_map():
    assert draw_map([_person(0)], []) is None
