"""Figures are valid, labelled SVG, whatever their data."""

import datetime as dt
import math
import re

import pytest
from defusedxml.ElementTree import fromstring

from leadhand_teams.shared.figures import Drawing, Series, bars, graph, line_chart, ticks


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 100, [0, 25, 50, 75, 100]),
        (0.2, 0.9, [0.2, 0.4, 0.6, 0.8, 1.0]),
        (-3, 12, [-5, 0, 5, 10, 15]),
        (5, 5, [4.5, 4.75, 5.0, 5.25, 5.5]),
        (math.nan, 1, [0, 1]),
    ],
)
def test_ticks_are_round(low: float, high: float, expected: list[float]) -> None:
    assert ticks(low, high) == expected


DAYS = [(dt.date(2024, 1 + n, 1), float(n * n)) for n in range(12)]
FIGURES = [
    line_chart("Sales", [Series("A", DAYS), Series("B", DAYS)], alternative="Both rise."),
    line_chart("Band", [Series("A", DAYS)], alternative="-", band=[(x, y, y + 1) for x, y in DAYS]),
    line_chart(
        "From", [Series("A", DAYS)], alternative="-", band=[(x, 130, None) for x, _ in DAYS]
    ),
    line_chart("Nothing", [Series("A", [])], alternative="There is no data."),
    line_chart("Odd", [Series("A", [(1, math.nan), (2, math.inf), (3, 4.0)])], alternative="-"),
    bars("Bars", [("North & South", 5.0), ("<b>", -2.0), ("nan", math.nan)], alternative="-"),
    bars("No bars", [], alternative="-"),
    graph("Order", {"a": "A", "b": "B"}, [("a", "b"), ("b", "a"), ("a", "x")], alternative="-"),
]


@pytest.mark.parametrize("figure", FIGURES, ids=lambda one: one.title)
def test_a_figure_is_valid_and_has_a_title_and_an_alternative(figure: Drawing) -> None:
    for text in (figure.svg(), figure.file):
        root = fromstring(text)
        assert [child.text for child in root][:2] == [figure.title, figure.alternative]
        assert "nan" not in figure.body.replace(">nan<", "")
        assert "inf" not in figure.body


def test_a_bar_without_a_label_is_of_the_bar_above_in_another_shade() -> None:
    drawn = bars("Pairs", [("A", 5.0), ("", 4.0), ("B", 3.0)], alternative="-").svg()
    assert re.findall(r'class="(s\d) bar"', drawn) == ["s0", "s1", "s0"]


def test_a_band_beside_one_limit_is_seen_where_no_value_reaches_it() -> None:
    [band] = re.findall('<polygon points="([^"]*)"', FIGURES[2].body)
    heights = {float(point.partition(",")[2]) for point in band.split()}
    lines = re.findall('<polyline points="([^"]*)"', FIGURES[2].body)
    top = min(float(point.partition(",")[2]) for line in lines for point in line.split())
    assert len(heights) == 2
    assert max(heights) < top


def test_an_edge_passes_between_the_boxes_and_a_marked_edge_is_dashed() -> None:
    edges = [("a", "b"), ("b", "c"), ("a", "c")]
    drawn = graph(
        "g", dict.fromkeys("abc", "-"), edges, alternative="-", marked=frozenset(edges[2:])
    )
    lines = [one for one in fromstring(drawn.file).iter() if one.tag.endswith("polyline")]
    assert [one.get("class") for one in lines] == ["s4 edge", "s4 edge", "s1 edge"]
    middle = [one for one in fromstring(drawn.file).iter() if one.tag.endswith("rect")][1]
    left, top, width, height = (
        float(middle.get(name) or 0) for name in ("x", "y", "width", "height")
    )
    points = [tuple(map(float, one.split(","))) for one in (lines[2].get("points") or "").split()]
    passing = [y for x, y in points if left <= x <= left + width]
    assert len(passing) == 2
    assert all(not top <= y <= top + height for y in passing)
