"""Markdown that models and files write becomes harmless HTML (F16, F32)."""

import pytest
from bs4 import BeautifulSoup

from leadhand.page.markdown import MAX_CHARS, render

EVIL = """\
<script>alert(1)</script> <img src=x onerror=alert(2)> ![pixel](https://track.example/p.png)

[here](javascript:alert(3)) <a href="javascript:alert(4)">x</a> [data](data:text/html,x)
&lt;script&gt;alert(5)&lt;/script&gt; <https://site.example/auto> &#x202e;turned &#27;[31mred

```html" onload="alert(6)
</pre><script>alert(7)</script>
```
"""


def test_f32_markup_in_the_text_stays_text() -> None:
    document = BeautifulSoup(render(EVIL), "html.parser")
    assert not document.find_all(["script", "img", "style", "iframe", "object", "form", "svg"])
    for element in document.find_all(True):
        assert {*element.attrs} <= {"href", "rel", "target"}
    assert "<script>alert(1)</script>" in document.get_text()
    assert "alert(7)" in document.get_text()
    assert "\u202e" not in document.get_text()
    assert "\x1b" not in document.get_text()


@pytest.mark.parametrize(
    ("target", "kept"),
    [
        ("https://a.example/x?y=1", True),
        ("http://a.example", True),
        ("mailto:ada@a.example", True),
        ("javascript:alert(1)", False),
        ("JaVaScRiPt:alert(1)", False),
        ("data:text/html;base64,PHNjcmlwdD4=", False),
        ("vbscript:x", False),
        ("file:///etc/passwd", False),
    ],
)
def test_f32_links_lead_to_the_web_and_to_mail_alone(target: str, kept: bool) -> None:
    link = BeautifulSoup(render(f"[words]({target})"), "html.parser").find("a")
    assert (link is not None and link.get("href") == target) is kept
    if kept and link is not None:
        assert {"noopener", "noreferrer"} <= {*link.get_attribute_list("rel")}
        assert link["target"] == "_blank"


def test_headings_lists_and_tables_are_laid_out_below_the_pages_own_heading() -> None:
    shown = render("# Head\n\n3. three\n4. four\n\n| x |\n|---|\n| 1 |\n\n~~old~~")
    assert "<h2>Head</h2>" in shown
    assert '<ol start="3">' in shown
    assert "<td>1</td>" in shown
    assert "<s>old</s>" in shown


def test_columns_of_figures_are_aligned_to_the_right() -> None:
    shown = render("| name | price |\n|---|--:|\n| x | 1 |")
    assert '<th class="num">price</th>' in shown
    assert '<td>x</td>\n<td class="num">1</td>' in shown


def test_a_text_without_end_is_cut() -> None:
    assert "(cut here)" in render("word " * MAX_CHARS)
