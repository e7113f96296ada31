"""What the performance lens reports about a query for each row of a query."""

from pathlib import Path

import pytest

from leadhand_teams.review.lenses import performance
from tests.leadhand_teams.review.changes import make_change, quoted_report

MODELS = """
from django.db import models

class Author(models.Model):
    name = models.TextField()

class Book(models.Model):
    author = models.ForeignKey(Author, models.CASCADE)
    tags = models.ManyToManyField("Tag")
    title = models.TextField()

"""


def lines(folder: Path, code: str) -> list[tuple[str, str]]:
    """Rule and quote of what is found in `code`, added below the models."""
    change = make_change(folder, {"a.py": MODELS + code}, {"a.py": MODELS})
    return [(one.rule, one.evidence) for one in quoted_report(performance.review, change).findings]


@pytest.mark.parametrize(
    ("code", "quote"),
    [
        ("for b in Book.objects.all():\n    print(b.author.name)\n", "print(b.author.name)"),
        ("books = Book.objects.filter(a=1)\nfor book in books:\n    print(book.tags.all())\n",
         "print(book.tags.all())"),
        ("for a in Author.objects.all()[:9]:\n    n = Book.objects.filter(author=a).count()\n",
         "n = Book.objects.filter(author=a).count()"),
        ("for a in Author.objects.order_by('name'):\n    show(a.book_set.count())\n",
         "show(a.book_set.count())"),
        ("def f():\n    return [book.author.name for book in list(Book.objects.all())]\n",
         "return [book.author.name for book in list(Book.objects.all())]"),
        ("def f(self):\n    return {a.id: a.book_set.first() for a in self.get_queryset()}\n",
         "return {a.id: a.book_set.first() for a in self.get_queryset()}"),
        ("def f(session):\n    for u in session.query(User).all():\n"
         "        session.query(Order).filter(Order.user == u.id).all()\n",
         "session.query(Order).filter(Order.user == u.id).all()"),
        ("async def f(session):\n    users = (await session.scalars(select(User))).all()\n"
         "    for u in users:\n        await session.scalar(select(Order).filter_by(id=u))\n",
         "await session.scalar(select(Order).filter_by(id=u))"),
        ("def f():\n    for u in User.query.filter_by(a=1):\n"
         "        Order.query.filter_by(user=u).first()\n",
         "Order.query.filter_by(user=u).first()"),
    ],
)  # fmt: skip
def test_a_query_for_each_row_of_a_query_is_found(tmp_path: Path, code: str, quote: str) -> None:
    assert lines(tmp_path, code) == [("performance/query-in-loop", quote)]


@pytest.mark.parametrize(
    "code",
    [
        "for b in Book.objects.select_related('author'):\n    print(b.author.name)\n",
        "for b in Book.objects.prefetch_related('tags'):\n    print(b.tags.all())\n",
        "for b in Book.objects.all():\n    print(b.title.upper(), b.author_id, b.title.encoding)\n",
        "for b in Book.objects.all():\n    b.update(author=None)\n    b.save()\n",
        "for b in Book.objects.all():\n    print(Author.objects.count())\n",
        "for b in [1, 2]:\n    print(Book.objects.get(pk=b))\n",
        "for b in Book.objects.get(pk=1).pages:\n    print(b.author.name)\n",
        "books = Book.objects.all()\nbooks = [1]\nfor b in books:\n    print(b.author.name)\n",
        "for b in client.session.get('/x').json():\n    client.session.get(b)\n",
    ],
)
def test_other_loops_are_left_alone(tmp_path: Path, code: str) -> None:
    assert lines(tmp_path, code) == []


@pytest.mark.parametrize(
    "path",
    ["app/migrations/0001.py", "alembic/versions/1_add.py", "app/management/commands/repair.py"],
)
def test_what_runs_once_may_take_its_time(tmp_path: Path, path: str) -> None:
    code = "for b in Book.objects.all():\n    print(b.author.name)\n"
    change = make_change(tmp_path, {path: MODELS + code}, {path: MODELS})
    assert quoted_report(performance.review, change).findings == ()
