"""The small templating: whatever is not made by it is text."""

from hookline.team.console.html import Html, h, join

_HOSTILE = "<b onclick='x'>&\"\x1b[31m\u202e"


def test_text_and_attributes_are_escaped_at_any_depth() -> None:
    made = h(
        "p",
        _HOSTILE,
        [h("i", _HOSTILE), (None, [3, "<"])],
        title=_HOSTILE,
        hidden=False,
        class_="a",
        data_x=1,
    )
    assert made == (
        "<p title=\"&lt;b onclick=&#x27;x&#x27;&gt;&amp;&quot;&lt;U+202E&gt;\" class=\"a\" data-x=\"1\">"
        "&lt;b onclick=&#x27;x&#x27;&gt;&amp;&quot;&lt;U+202E&gt;<i>&lt;b onclick=&#x27;x&#x27;&gt;&amp;&quot;"
        "&lt;U+202E&gt;</i>3&lt;</p>"
    )  # fmt: skip


def test_only_what_was_made_here_is_html() -> None:
    inner = h("br")
    assert join(inner, "<br>") == "<br>&lt;br&gt;"
    assert type(f"{inner}") is str
    assert h("p", f"{inner}") == "<p>&lt;br&gt;</p>", "a text that has some in it is text"
    assert isinstance(join(), Html)
    assert h("input", value="", disabled=True) == '<input value="" disabled>'
