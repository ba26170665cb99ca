"""Reports: what every case came to, as one document, for programs and for people."""

import html
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationError

from steward.agents import Contract
from steward.core import Invalid, Unreadable, in_words, mistakes, read_json

MOST_BYTES: Final = 4 << 20
_MARKS: Final = {"passed": "✓", "failed": "✗", "skipped": "–"}
_LONGEST_LINE: Final = 300

Short = Annotated[str, Field(max_length=200)]


class CaseResult(Contract):
    suite: Short
    id: Short
    kind: Short
    title: Short = ""
    outcome: Literal["passed", "failed", "skipped"]
    problems: list[Annotated[str, Field(max_length=4_000)]] = Field(default=[], max_length=500)
    facts: dict[str, Any] = Field(default_factory=dict, max_length=50)
    seconds: float = Field(ge=0)

    @property
    def key(self) -> str:
        return f"{self.suite}/{self.id}"


class Report(Contract):
    format: Literal[1] = 1
    steward: Short
    began_at: datetime
    mode: Literal["offline", "online"]
    models: dict[Short, list[Short]] = Field(default_factory=dict, max_length=10)
    seconds: float = Field(ge=0)
    cases: list[CaseResult] = Field(min_length=1, max_length=20_000)

    def count(self, outcome: str) -> int:
        return sum(case.outcome == outcome for case in self.cases)

    @property
    def passed(self) -> bool:
        return self.count("failed") == 0

    @property
    def totals(self) -> dict[str, Any]:
        kinds: dict[str, Counter[str]] = {}
        for case in self.cases:
            kinds.setdefault(case.kind, Counter())[case.outcome] += 1
        return {
            **_counted(Counter(case.outcome for case in self.cases)),
            "kinds": {kind: _counted(kinds[kind]) for kind in sorted(kinds)},
        }

    def to_json(self) -> dict[str, Any]:
        found = self.model_dump(mode="json")
        cases = found.pop("cases")
        return {**found, "totals": self.totals, "cases": cases}


def _counted(outcomes: Mapping[str, int]) -> dict[str, int]:
    return {"cases": sum(outcomes.values())} | {name: outcomes.get(name, 0) for name in _MARKS}


def read_report(source: str | bytes | Mapping[str, Any]) -> Report:
    """A report that somebody hands in; its totals are counted again, not believed."""
    try:
        value = read_json(source) if isinstance(source, str | bytes) else dict(source)
        if isinstance(value, dict):
            value.pop("totals", None)
        return Report.model_validate(value)
    except ValidationError as error:
        found = mistakes(error)
        raise Invalid(
            f"This is not a report of `steward eval`: {in_words(found)}.", problems=found
        ) from None
    except Unreadable as error:
        said = error.problems[0].message
        raise Invalid(f"This is not a report of `steward eval`: it is no JSON: {said}.") from None


def as_markdown(report: Report) -> str:
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    totals = report.totals
    yield "# Evaluation"
    yield ""
    yield f"- {totals['passed']} of {totals['cases']} passed, {totals['failed']} failed, {totals['skipped']} skipped"
    yield f"- {report.mode}, {_models(report)}, Steward {report.steward}"
    yield f"- Began {report.began_at.isoformat()}, took {report.seconds:.1f} s"
    yield ""
    yield "| Kind | Cases | Passed | Failed | Skipped |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for kind, counts in totals["kinds"].items():
        yield f"| {kind} | " + " | ".join(str(counts[name]) for name in counts) + " |"
    suite = None
    for case in report.cases:
        if case.suite != suite:
            suite = case.suite
            yield ""
            yield f"## {_plain(suite)}"
            yield ""
        yield f"- {_MARKS[case.outcome]} `{_plain(case.id)}` {case.kind}: {_plain(case.title)}".rstrip(
            ": "
        )
        for problem in case.problems:
            yield f"  - {_plain(problem)}"


def as_html(report: Report) -> str:
    """One page without scripts or links to elsewhere."""
    totals, escape = report.totals, html.escape
    rows = "".join(
        f'<tr class="{case.outcome}"><td>{_MARKS[case.outcome]} {case.outcome}</td>'
        f"<td>{escape(case.suite)}</td><td>{escape(case.kind)}</td>"
        f"<td>{escape(case.title or case.id)}<ul>"
        + "".join(f"<li>{escape(problem)}</li>" for problem in case.problems)
        + f"</ul></td><td>{case.seconds:.2f}</td></tr>"
        for case in report.cases
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Evaluation</title><style>'
        ":root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;"
        "margin:2rem auto;padding:0 1rem}table{border-collapse:collapse;width:100%}td,th{text-align:left;"
        "padding:.3rem .6rem;border-bottom:1px solid #8884;vertical-align:top}ul{margin:0}"
        "ul:empty{display:none}.failed td:first-child{color:#c0392b}.passed td:first-child{color:#1e8449}"
        "</style><h1>Evaluation</h1>"
        f"<p>{totals['passed']} of {totals['cases']} passed, {totals['failed']} failed, "
        f"{totals['skipped']} skipped. {report.mode}, {escape(_models(report))}, "
        f"Steward {escape(report.steward)}, {escape(report.began_at.isoformat())}.</p>"
        "<table><thead><tr><th>Outcome</th><th>Suite</th><th>Kind</th><th>Case</th><th>Seconds</th></tr>"
        f"</thead><tbody>{rows}</tbody></table></html>\n"
    )


def _models(report: Report) -> str:
    if report.mode == "offline":
        return "scripted models and rules"
    names = dict.fromkeys(name for each in report.models.values() for name in each)
    return ", ".join(names) or "no model"


def _plain(text: str) -> str:
    """One line that is no markup."""
    line = " ".join(text.split())[:_LONGEST_LINE]
    return "".join(f"\\{c}" if c in "\\`*_[]<>|#" else c for c in line)
