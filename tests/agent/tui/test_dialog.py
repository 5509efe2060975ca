"""A question on a small screen: every choice is visible, what does not fit is printed above."""

from prompt_toolkit.buffer import Buffer
from rich.text import Text

from hookline.agent.ports import Choice
from hookline.agent.tui.channel import UserQuestion
from hookline.agent.tui.dialog import Dialog
from hookline.agent.tui.text.paint import Painter

WIDTH, ROWS = 30, 7


def test_all_choices_are_visible_at_thirty_columns_and_the_rest_is_printed_above() -> None:
    painter, dialog = Painter({"NO_COLOR": "1"}), Dialog(Buffer())
    why = Text("a hook asks: this pushes to the branch that everybody deploys from, and cannot be undone")
    choices = [Choice("1", "yes"), Choice("2", "yes, and always"), Choice("3", "no")]
    dialog.ask(
        UserQuestion(
            title="Bash", body=[Text("git push --force origin main")], why=[why], choices=choices,
            hint="or type why not and press Enter", answer=lambda _key, _said: None,
        )
    )  # fmt: skip
    assert dialog.panel(painter, WIDTH, ROWS) is None, "it does not fit: print it above"
    above = painter.text(dialog.whole(), WIDTH)
    assert "cannot be undone" in " ".join(above.split())
    assert "git push --force" in above
    dialog.is_above = True
    panel = dialog.panel(painter, WIDTH, ROWS)
    assert panel is not None
    lines = painter.lines(panel, WIDTH)
    assert len(lines) <= ROWS
    assert all(any(choice.text in line for line in lines) for choice in choices)
