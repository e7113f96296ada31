"""Orders keep what is required, circles are found, and units fit the time."""

from hypothesis import given
from hypothesis import strategies as st

from leadhand_teams.curriculum.output import Prerequisite
from leadhand_teams.curriculum.structure import acyclic, guessed, ordered, units
from leadhand_teams.curriculum.topics import Topic, merged, stated_edges


def edge(before: str, after: str, ref: str = "") -> Prerequisite:
    return Prerequisite(before=before, after=after, ref=ref)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=25, unique=True))
def test_every_order_is_complete_and_keeps_what_is_left_without_circles(
    drawn: list[tuple[int, int]],
) -> None:
    stated = [edge(str(one), str(other)) for one, other in drawn]
    kept, circles = acyclic(stated)
    assert len(kept) + len(circles) == len(stated)
    ids = [str(n) for n in range(10)]
    order = ordered(ids, [(one.before, one.after) for one in kept])
    assert sorted(order) == ids
    assert all(order.index(one.before) < order.index(one.after) for one in kept)


def test_the_order_of_the_source_stays_where_nothing_speaks_against_it() -> None:
    assert ordered(["a", "b", "c"], []) == ["a", "b", "c"]
    assert ordered(["a", "b", "c"], [("c", "a")]) == ["b", "c", "a"]


def test_of_a_circle_the_edge_that_was_stated_last_is_left_out() -> None:
    stated = [edge("a", "b", "1"), edge("b", "c", "2"), edge("c", "a", "3")]
    kept, circles = acyclic(stated)
    assert kept == stated[:2]
    assert [sorted(circle, key=lambda one: one.ref) for circle in circles] == [stated]


def test_a_guess_never_contradicts_what_is_given() -> None:
    stated = [edge("a", "b"), edge("b", "c")]
    guesses = [edge("c", "a"), edge("a", "c")]
    assert acyclic([*stated, *guesses])[0] == [*stated, guesses[1]]


def test_units_are_even_over_the_weeks_or_filled_by_hours() -> None:
    hours = {"a": 1.0, "b": 1.0, "c": 1.0, "d": 3.0}
    assert units("abcd", hours, 2, None) == [["a", "b", "c"], ["d"]]
    assert units("abcd", hours, None, 2) == [["a", "b"], ["c"], ["d"]]
    assert units("abcd", hours, 2, 1) == [["a", "b", "c"], ["d"]]
    assert units("", {}, 2, 1) == []


def test_what_mentions_a_title_is_guessed_to_require_it() -> None:
    topics = [
        Topic(id="g", title="Gradient descent", summary="Follow the gradient step by step."),
        Topic(id="d", title="Gradient", summary="The slope in each direction."),
        Topic(id="t", title="Tea", summary="A drink."),
        Topic(id="r", title="Rain", summary="Water that falls."),
    ]
    found = guessed(topics)
    assert list(found) == [("d", "g")]
    assert 0.5 <= found["d", "g"] < 1


def test_names_are_resolved_by_id_title_and_form() -> None:
    topics = [
        Topic(id="x1", title="Random variables"),
        Topic(id="x2", title="Mean and variance", requires=["random_variable"]),
        Topic(id="x3", title="Tests", requires=["mean and variance", "x1 and luck"]),
    ]
    edges, missing = stated_edges(topics)
    assert [(one.before, one.after) for one in edges] == [("x1", "x2"), ("x2", "x3"), ("x1", "x3")]
    assert list(missing) == ["luck"]


def test_a_name_that_only_looks_like_the_topic_itself_is_another_topic() -> None:
    edges, missing = stated_edges([Topic(id="pp", title="k-means++", requires=["k_means"])])
    assert (edges, list(missing)) == ([], ["k_means"])


def test_a_topic_of_two_sources_has_what_both_state() -> None:
    one = Topic(id="a", title="A", goals=["g"], hours=2)
    other = Topic(id="a", title="A", goals=["h"], requires=["b"], hours=3)
    topics, twice = merged([one, other])
    assert (topics[0].goals, topics[0].requires, topics[0].hours) == (["g", "h"], ["b"], 2)
    assert twice == [[one, other]]
