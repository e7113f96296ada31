"""Shows evaluations as text: progress, figures, what failed, and what changed."""

from collections.abc import Sequence

from rich.console import Console

from leadhand.cli.views.consoles import print_line
from leadhand.cli.views.terminal import safe, sentence
from leadhand.evals.figures import FigureChange
from leadhand.evals.formats import amount, failures, interval
from leadhand.evals.report import TeamReport, TrialReport
from leadhand.tools.text import counted


def show_trial(team: str, trial: TrialReport, done: int, total: int, console: Console) -> None:
    said = "passed" if trial.passed else f"failed: {next(iter(failures(trial)), '')}"
    text = f"[{done}/{total}] {team}: {trial.title} {said} ({trial.seconds:.1f} s)"
    print_line(console, sentence(text))


def show_report(team: TeamReport, console: Console) -> None:
    trials = counted(len(team.trials), "trial")
    print_line(console, sentence(f"{team.team}: {trials}, engine {team.engine}"))
    figures = team.figures.items()
    rows = {name: one for name, one in figures if one.mean or name in team.scores}
    width = max(len(sentence(name)) for name in rows)
    for name, found in rows.items():
        around = interval(name, found)
        noted = f"  (95 %: {around})" if around else ""
        print_line(console, f"  {sentence(name):<{width}}  {amount(name, found.mean):>9}{noted}")
    for wanted, given, count in team.confused[:10]:
        route = f"{count} for {wanted or 'no worker'} went to {given or 'no worker'}"
        print_line(console, f"  {sentence(route)}")
    for trial in (one for one in team.trials if not one.passed):
        print_line(console, sentence(f"failed: {trial.title}"))
        for line in failures(trial):
            print_line(console, f"  {line}")


def show_changes(team: str, changed: Sequence[FigureChange], console: Console) -> None:
    told = [one for one in changed if one.verdict in ("better", "worse")]
    for one in told:
        moved = f"{amount(one.name, one.before)} -> {amount(one.name, one.now)}"
        print_line(console, f"{one.verdict}: {sentence(one.name)} {moved}")
    if not told:
        why = "nothing is better or worse beyond noise" if changed else "it has none of these cases"
        print_line(console, sentence(f"{team} against the baseline: {why}"))
    if unknown := ", ".join(one.name for one in changed if one.verdict == "unknown"):
        print_line(console, sentence(f"too few trials to tell, use --repeat: {unknown}"))


def show_comparison(
    one: TeamReport, other: TeamReport, changed: Sequence[FigureChange], console: Console
) -> None:
    verdicts = {change.name: change.verdict for change in changed}
    print_line(console, f"{'':<24}  {safe(one.team):>18}  {safe(other.team):>18}")
    for name in {**one.figures, **other.figures}:
        found = (each.figures.get(name) for each in (one, other))
        cells = [amount(name, figure.mean) if figure is not None else "-" for figure in found]
        verdict = verdicts.get(name)
        noted = f"  {safe(other.team)} is {verdict}" if verdict in ("better", "worse") else ""
        print_line(console, f"{sentence(name):<24}  {cells[0]:>18}  {cells[1]:>18}{noted}")
