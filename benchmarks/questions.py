"""How often chat is right about public tables, and how often it says something wrong as a fact, without a model.

A real Steward in a temporary folder loads the tables of `question_sets` and answers their questions in chat. Each answer
is judged by the rows it shows and by how it is given: as a fact, as a question or proposal, or not at all. The truth was
computed by hand-written SQL in DuckDB over the same files.

    make bench NAME=questions                                  a few minutes
    .venv/bin/python benchmarks/questions.py --quick           three sets, for a smoke test
    .venv/bin/python benchmarks/questions.py --misses FILE     writes the misses of the open half to a file, and those of others
    … --open                                                   asks the open halves only
    … --round 2                                                asks the sets of one round only
    … --defog DIR --geography DIR                              adds questions that others wrote (see their modules)
    … --model-url URL --most 12                                asks 12 of the open half with a model, keeps what it says
    … --replay-only                                            only plays again what a model said

Right is an answer as a fact whose rows are those asked for. Where the tables do not hold the answer, right is a question
back, a refusal, or the answer that there is no such value.
Wrong as fact is any other answer given as a fact. The last line is JSON: `right`, `wrong_as_fact` and `asked_back` as parts
of the questions of the first round, `held_out_…` of its second half, which has been read since, `defined_…` with definitions,
`second_…` and `second_held_out_…` likewise of the second round, `third_…` of the questions that no one tunes to and `fourth_…`
of those to tune to, `fifth_…`, `fifth_held_out_…`, `sixth_…`, `sixth_held_out_…`, `seventh_…` and `seventh_held_out_…` likewise of the fifth, sixth and seventh round,
`model_…` of the conversations in `question_sets/journals`, in which a model's recorded answers are played again;
`model_stale` is the part of its answers that were given to another request than today's. `defog_refused` is the part of Defog's unanswerable
questions that chat does not answer.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.question_sets import Conversation, QuestionSet, Turn, read_sets
from benchmarks.question_sets.comparing import Row, same_rows
from benchmarks.question_sets.outside import Case, Database
from benchmarks.question_sets.recording import (
    Recorder,
    Replayer,
    in_turns,
    recordings,
    stale_part,
)
from benchmarks.question_sets.studio import Reply, Said, Studio, open_studio
from benchmarks.question_sets.tables import READING, open_tables, write_file
from steward.core.settings import ModelChoice, ModelsSettings
from steward.models import ConfiguredModels, Lineup

JOURNALS = Path(__file__).parent / "question_sets" / "journals"
QUICK = ("cars", "penguins", "tips")


@dataclass(frozen=True)
class Judged:
    set: str
    round: int
    conversation: Conversation
    turn: Turn
    reply: Reply
    verdict: str
    """`right`, `wrong` (as a fact), `asked` (back, though there is an answer) or `failed`."""
    expected: str


def say(text: str) -> None:
    print(text, flush=True)


def answers_of(tables: duckdb.DuckDBPyConnection, turn: Turn) -> list[list[Row]]:
    """Every set of rows that is a right answer."""
    found: list[list[Row]] = []
    for query in turn.answers:
        rows: list[Row] = list(tables.execute(query).fetchall())
        found.append(rows)
        if "100.0 *" in query:
            # A share may be shown as a fraction as well.
            found.append([[v / 100 if isinstance(v, float) else v for v in row] for row in rows])
    return found


def judge(turn: Turn, reply: Reply, answers: Sequence[Sequence[Row]], *, defined: bool) -> str:
    if reply.status == "fact":
        is_right = _is_right(turn, reply, answers) or (turn.back is not None and _is_none(reply))
        return "right" if is_right else "wrong"
    if reply.status == "failed":
        return "failed"
    should_ask = turn.back is not None or (turn.needs is not None and not defined)
    return "right" if should_ask else "asked"


def _is_none(reply: Reply) -> bool:
    """Whether the answer says that there is no such value."""
    return not reply.chart and all(value is None for row in reply.rows for value in row)


def _is_right(turn: Turn, reply: Reply, answers: Sequence[Sequence[Row]]) -> bool:
    if turn.chart is not None and reply.chart != turn.chart:
        return False
    if turn.chart is not None and not answers and turn.back is None:
        return True
    return any(
        same_rows(rows, reply.rows, in_all=reply.rows_in_all, ordered=turn.ordered)
        for rows in answers
    )


Asked = Iterable[tuple[Conversation, Iterable[Said]]]


Around = Callable[[Conversation], AbstractContextManager[Callable[[int], None]]]
"""What surrounds a conversation; gives what is done before each turn."""


@contextmanager
def _as_it_is(_: Conversation) -> Iterator[Callable[[int], None]]:
    yield lambda _: None


def ask_set(studio: Studio, project: str, questions: QuestionSet, around: Around) -> Asked:
    """Asks the questions of a set one by one, each conversation in a thread of its own."""
    for conversation in questions.conversations:
        said: list[Said] = []
        with around(conversation) as before:
            for number, turn in enumerate(conversation.turns):
                before(number)
                said.append(studio.ask(project, turn.ask, said[-1].thread if said else None))
        yield conversation, said


def judge_set(
    questions: QuestionSet, asked: Asked, files: dict[str, Path], *, defined: bool
) -> list[Judged]:
    began = time.perf_counter()
    judged = []
    with open_tables(files) as tables:
        for conversation, said in asked:
            for turn, each in zip(conversation.turns, said, strict=True):
                answers, reply = answers_of(tables, turn), each.reply
                verdict = judge(turn, reply, answers, defined=defined)
                expected = " or ".join(str(rows[:5]) for rows in answers[:2]) or turn.back or ""
                judged.append(
                    Judged(
                        questions.name,
                        questions.round,
                        conversation,
                        turn,
                        reply,
                        verdict,
                        expected,
                    )
                )
    right = sum(each.verdict == "right" for each in judged)
    wrong = sum(each.verdict == "wrong" for each in judged)
    took = time.perf_counter() - began
    say(f"{questions.name:14} {len(judged):4} {right:6} {wrong:6} {took:7.1f} s")
    return judged


def _part(judged: Sequence[Judged], verdict: str) -> float:
    return round(sum(each.verdict == verdict for each in judged) / max(len(judged), 1), 3)


def figures_of(judged: Sequence[Judged], prefix: str = "") -> dict[str, float]:
    asked = sum(each.reply.status in {"asked", "refused"} for each in judged)
    return {
        f"{prefix}questions": len(judged),
        f"{prefix}right": _part(judged, "right"),
        f"{prefix}wrong_as_fact": _part(judged, "wrong"),
        f"{prefix}asked_back": round(asked / max(len(judged), 1), 3),
        f"{prefix}failed": round(
            sum(each.reply.status == "failed" for each in judged) / max(len(judged), 1), 3
        ),
    }


def both_rounds(judged: Sequence[Judged], prefix: str = "") -> dict[str, float]:
    """The figures of every round that was asked."""
    figures: dict[str, float] = {}
    names = ("", "second_", "third_", "fourth_", "fifth_", "sixth_", "seventh_")
    for number, name in enumerate(names, 1):
        of_round = [each for each in judged if each.round == number]
        if of_round:
            figures |= both_halves(of_round, f"{prefix}{name}")
    return figures


def both_halves(judged: Sequence[Judged], prefix: str = "") -> dict[str, float]:
    held_out = [each for each in judged if each.conversation.held_out]
    opened = [each for each in judged if not each.conversation.held_out]
    if not held_out or not opened:
        return figures_of(judged, prefix)
    return {
        **figures_of(judged, prefix),
        **figures_of(opened, f"{prefix}open_"),
        **figures_of(held_out, f"{prefix}held_out_"),
    }


def open_half(questions: QuestionSet) -> QuestionSet:
    """The set without the conversations that are held out."""
    opened = tuple(each for each in questions.conversations if not each.held_out)
    return replace(questions, conversations=opened)


def misses(judged: Iterable[Judged], *, held_out: bool) -> str:
    """Every miss with what was asked before it, what was expected and what came."""
    lines = []
    for each in judged:
        if each.verdict == "right" or (each.conversation.held_out and not held_out):
            continue
        turns = each.conversation.turns
        before = [turn.ask for turn in turns[: turns.index(each.turn)]]
        reply = each.reply
        shown = " ".join(reply.text.split())[:300]
        lines += [
            f"[{each.verdict}] {each.set}/{each.conversation.id}: {each.turn.ask}",
            *(f"    after: {asked}" for asked in before),
            f"    expected: {each.expected[:300]}{' ordered' if each.turn.ordered else ''}"
            + (f" chart: {each.turn.chart}" if each.turn.chart else ""),
            f"    came ({reply.status}, chart: {reply.chart}, {reply.rows_in_all} rows): {reply.rows[:4]}",
            f"    said: {shown}",
        ]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class JudgedCase:
    database: str
    case: Case
    reply: Reply
    verdict: str

    @property
    def told(self) -> str:
        shown = " ".join(self.reply.text.split())[:300]
        expected = " or ".join(str(rows[:5]) for rows in self.case.answers[:2])
        return (
            f"[{self.verdict}] {self.database}: {self.case.turn.ask}\n"
            f"    expected: {(expected or str(self.case.turn.back))[:300]}\n"
            f"    came ({self.reply.status}): {self.reply.rows[:4]}\n    said: {shown}\n"
        )


def ask_database(studio: Studio, database: Database, *, defined: bool) -> list[JudgedCase]:
    """Questions that others wrote, each in a thread of its own, with the verdicts."""
    project = studio.project(database.name, database.files)
    if defined:
        studio.confirm_proposals(project)
    judged = []
    for case in database.cases:
        reply = studio.ask(project, case.turn.ask).reply
        verdict = judge(case.turn, reply, case.answers, defined=False)
        judged.append(JudgedCase(database.name, case, reply, verdict))
    verdicts = [each.verdict for each in judged]
    say(
        f"{database.name:14} {len(judged):4} {verdicts.count('right'):6} {verdicts.count('wrong'):6}"
    )
    return judged


def _share(verdicts: Sequence[str], verdict: str) -> float:
    return round(verdicts.count(verdict) / max(len(verdicts), 1), 3)


def ask_outside(
    prefix: str, databases: Iterable[Database], *, defined: bool, misses: Path | None = None
) -> dict[str, float]:
    """The figures of one collection: answers to what can be answered, refusals of what cannot."""
    with tempfile.TemporaryDirectory() as folder, open_studio(Path(folder) / "home") as studio:
        judged = [
            each
            for database in databases
            for each in ask_database(studio, database, defined=defined)
        ]
    if misses is not None:
        with misses.open("a") as file:
            file.writelines(each.told for each in judged if each.verdict != "right")
    answerable = [each.verdict for each in judged if each.case.turn.back is None]
    unanswerable = [each.verdict for each in judged if each.case.turn.back is not None]
    figures: dict[str, float] = {
        f"{prefix}questions": len(answerable),
        f"{prefix}right": _share(answerable, "right"),
        f"{prefix}wrong_as_fact": _share(answerable, "wrong"),
    }
    if unanswerable:
        figures[f"{prefix}unanswerable"] = len(unanswerable)
        figures[f"{prefix}refused"] = _share(unanswerable, "right")
    return figures


def ask_own(
    sets: Sequence[QuestionSet],
    *,
    defined: bool = False,
    models: Lineup | None = None,
    around: Around = _as_it_is,
) -> list[Judged]:
    """Asks the questions of every set in a project of its own."""
    say(f"\n{'set':14} {'asked':>4} {'right':>5} {'wrong':>6}")
    judged: list[Judged] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        open_studio(Path(folder) / "home", models) as studio,
    ):
        for one in sets:
            files = _files(one, Path(folder))
            project = studio.project(one.title, files, READING)
            if defined:
                studio.define(project, one.definitions)
            judged += judge_set(one, ask_set(studio, project, one, around), files, defined=defined)
    return judged


def _with_definitions(sets: Sequence[QuestionSet], judged: Sequence[Judged]) -> list[Judged]:
    """All answers once more, asked again where the set brings definitions."""
    defined = [one for one in sets if one.definitions]
    names = {one.name for one in defined}
    again = ask_own(defined, defined=True) if defined else []
    return [*(each for each in judged if each.set not in names), *again]


def record(
    sets: Sequence[QuestionSet], url: str, name: str, journals: Path, most: int
) -> dict[str, float]:
    """Asks some questions of the open half with a model and keeps what it says; those kept already are left out."""
    known = recordings(journals)
    ids = in_turns(
        ([each.id for each in one.conversations if not each.held_out] for one in sets), most
    )
    wanted = {each for each in ids if each not in known}
    choice = ModelChoice(provider="compatible", name=name, base_url=url, timeout=900, stall=900)
    recorder = Recorder(ConfiguredModels(ModelsSettings(default=choice)))

    @contextmanager
    def around(conversation: Conversation) -> Iterator[Callable[[int], None]]:
        yield lambda number: recorder.end_turn() if number else None
        recorder.end_turn()
        found = recorder.recording()
        if found.is_broken:
            raise SystemExit(f"The server at {url} was not reached. {conversation.id} is not kept.")
        found.write(journals / f"{conversation.id}.json")

    return both_halves(ask_own(_only(sets, wanted), models=recorder, around=around), "recorded_")


def replay(sets: Sequence[QuestionSet], journals: Path) -> dict[str, float]:
    """The conversations that were kept, with the answers that the model gave; {} where none are."""
    known = recordings(journals)
    chosen = _only(sets, set(known))
    if not chosen:
        say(f"No conversations with a model are kept in {journals}.")
        return {}
    replayer = Replayer()

    @contextmanager
    def around(conversation: Conversation) -> Iterator[Callable[[int], None]]:
        replayer.begin(known[conversation.id])
        yield replayer.begin_turn

    judged = ask_own(chosen, models=replayer, around=around)
    for each in judged:
        if each.verdict != "right":
            say(f"  [{each.verdict}] {each.turn.ask}")
    return {**both_halves(judged, "model_"), **stale_part(replayer)}


def _only(sets: Sequence[QuestionSet], ids: set[str]) -> list[QuestionSet]:
    found = [
        replace(one, conversations=tuple(each for each in one.conversations if each.id in ids))
        for one in sets
    ]
    return [one for one in found if one.conversations]


def _files(questions: QuestionSet, folder: Path) -> dict[str, Path]:
    place = folder / questions.name
    place.mkdir()
    return {name: write_file(name, place) for name in questions.tables}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="three sets only")
    parser.add_argument("--sets", nargs="*", default=(), help="names of sets; all unless given")
    parser.add_argument("--open", action="store_true", help="leave out the half held out")
    parser.add_argument("--round", type=int, choices=range(1, 8), help="sets of this round only")
    parser.add_argument(
        "--misses", type=Path, help="file for the misses of the open half and of others' questions"
    )
    parser.add_argument("--show-held-out", action="store_true", help="misses of both halves")
    parser.add_argument("--defog", type=Path, help="folder with Defog's questions and databases")
    parser.add_argument("--geography", type=Path, help="folder with text2sql-data's geography")
    parser.add_argument("--outside-only", action="store_true", help="leave out our own sets")
    parser.add_argument("--defined", action="store_true", help="ask with definitions as well")
    parser.add_argument("--model-url", help="an OpenAI-compatible server to ask with")
    parser.add_argument("--model-name", default="local", help="the model's name there")
    parser.add_argument("--most", type=int, default=12, help="how many to ask with the model")
    parser.add_argument("--replay-only", action="store_true", help="only what a model said")
    parser.add_argument("--journals", type=Path, default=JOURNALS, help="kept conversations")
    return parser.parse_args()


def _outside(options: argparse.Namespace, *, defined: bool) -> dict[str, float]:
    """Questions of others, without definitions or with those that Steward proposes, all confirmed."""
    figures: dict[str, float] = {}
    told = "defined_" if defined else ""
    with tempfile.TemporaryDirectory() as folder:
        if options.defog is not None:
            from benchmarks.question_sets.defog import read_defog

            databases = read_defog(options.defog, Path(folder))
            figures |= ask_outside(
                f"defog_{told}", databases, defined=defined, misses=options.misses
            )
        if options.geography is not None:
            from benchmarks.question_sets.geography import read_geography

            database = read_geography(options.geography, Path(folder))
            figures |= ask_outside(
                f"geography_{told}", [database], defined=defined, misses=options.misses
            )
    return figures


def main() -> None:
    options = _options()
    began = time.perf_counter()
    figures: dict[str, float] = {}
    sets = read_sets(QUICK if options.quick else options.sets)
    if options.round is not None:
        sets = [one for one in sets if one.round == options.round]
    if options.open:
        sets = [open_half(one) for one in sets]
    if options.model_url is not None:
        url, name = options.model_url, options.model_name
        figures |= record(sets, url, name, options.journals, options.most)
    elif options.replay_only:
        figures |= replay(sets, options.journals)
    elif not options.outside_only:
        judged = ask_own(sets)
        figures |= both_rounds(judged)
        if options.misses is not None:
            options.misses.write_text(misses(judged, held_out=options.show_held_out))
        if options.defined:
            figures |= both_rounds(_with_definitions(sets, judged), "defined_")
        figures |= replay(sets, options.journals)
    figures |= _outside(options, defined=False)
    if options.defined:
        figures |= _outside(options, defined=True)
    say(json.dumps({**figures, "seconds": round(time.perf_counter() - began)}))


if __name__ == "__main__":
    main()
