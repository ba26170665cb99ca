"""The planner's prompt, by a fixed recipe: rule, job, agents, tools, three worked examples, data, history, message.

What people outside wrote (names of datasets and columns, values, earlier answers) stands between marks as untrusted.
The recipe's budget decides how many tools and tables are shown in full, so that small models get short prompts.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from steward.agents.planning.cards import schema_cards
from steward.agents.planning.examples import Example, worked_examples
from steward.agents.planning.plan_checks import Catalogue, ToolFacts
from steward.agents.planning.task import Task
from steward.agents.planning.words import overlap, words_of
from steward.broker import TOOLS, disarmed, system_rule, wrap_untrusted
from steward.models import Message, Said, System, User

_CHARACTERS_PER_TOKEN: Final = 4

JOB: Final = """You plan work on data; others carry it out, and only what you plan is possible.
Answer with one JSON object: {"goal": text, "steps": [...], "notes": text}. A step has:
id (small letters), title, agent, tools (names, first choice first), fallback_tools, arguments (of the first tool, as
far as known: complete them where you can), open (arguments to be found in results, each with the ids of those steps:
{"to": ["contacts"]}), needs (ids of earlier steps whose results it works on), reason, confidence.
- Few steps, at most 4 agents. Steps that need nothing of one another run at the same time.
- Use only the agents, tools, tables and columns listed below, spelled exactly so.
- An agent may only use its own tools.
- For questions about numbers prefer execute_query_plan over SQL.
- Do not plan to change, delete or send anything that the person did not ask for.
- Recipients, amounts, repetition and access that stand neither in arguments nor in open stay empty.
- If something is unclear, plan what is safe to look at and say in notes what is open."""


@dataclass(frozen=True)
class Recipe:
    """How long a prompt may be, and what it holds."""

    tokens: int = 6_000
    """About how many tokens; for a model of a few billion parameters 2,000 is plenty."""
    examples: int = 3
    history: int = 6
    constrained: bool = True
    """Whether the model is held to a JSON Schema; off for servers that cannot."""

    def shorter(self) -> "Recipe":
        """For a model that could not read so much: less of everything, at most one example."""
        return replace(
            self,
            tokens=self.tokens // 3,
            examples=min(self.examples - 1, 1) if self.examples else 0,
            history=self.history // 2,
        )


def opening(task: Task, catalogue: Catalogue, recipe: Recipe) -> list[Message]:
    """System prompt and the person's message, with everything between them that the recipe has room for."""
    room = recipe.tokens * _CHARACTERS_PER_TOKEN
    examples = "\n\n".join(_shown(each) for each in worked_examples(task.message, recipe.examples))
    system = "\n\n".join(
        [
            system_rule(task.nonce),
            JOB,
            "Agents:\n"
            + "\n".join(
                f"- {agent.name}: {_sentence(agent.description)} Tools: {', '.join(agent.tools) or 'none'}."
                for agent in catalogue.agents
            ),
            "Tools:\n" + _tools(task, catalogue, room // 4),
            *(["Skills:\n" + _skills(task, catalogue)] if catalogue.skills else []),
            *(["Examples, over other data:\n" + examples] if examples else []),
        ]
    )
    messages: list[Message] = [System(system)]
    messages.append(_data(task, catalogue, room // 3))
    messages += _history(task, recipe)
    messages.append(User(_request(task)))
    return messages


def repair(said: Said, problems: Sequence[str], nonce: str) -> list[Message]:
    """What a model is told when its plan was refused: exactly what is wrong, and to write all of it again."""
    listed = "\n".join(f"- {disarmed(each, nonce)}" for each in problems[:20])
    return [
        said,
        User(
            f"That plan is refused:\n{listed}\nWrite the whole plan again with these mistakes corrected, "
            "as one JSON object and nothing else."
        ),
    ]


def _tools(task: Task, catalogue: Catalogue, room: int) -> str:
    wanted = words_of(task.message)
    usable = {name: facts for name, facts in catalogue.tools.items() if catalogue.usable(name)}
    usual = {name for name, tool in TOOLS if tool.usual}
    ranked = sorted(
        usable,
        key=lambda name: (
            name not in usual,
            -overlap(wanted, words_of(f"{name} {usable[name].title} {usable[name].description}")),
            name,
        ),
    )
    lines: list[str] = []
    used = 0
    for name in ranked:
        line = _tool(name, usable[name])
        if used + len(line) > room and lines:
            # The rest is known by name: a name costs little, and the check knows it anyway.
            rest = ranked[len(lines) :]
            lines.append(f"- further tools: {', '.join(sorted(rest))}")
            break
        lines.append(line)
        used += len(line)
    return "\n".join(lines)


def _tool(name: str, facts: ToolFacts) -> str:
    required = facts.schema.get("required", [])
    fields = facts.schema.get("properties", {})
    given = [each if each in required else f"{each}?" for each in fields][:12]
    return f"- {name}({', '.join(given)}), {facts.risk}: {_sentence(facts.description)}"


def _skills(task: Task, catalogue: Catalogue) -> str:
    wanted = words_of(task.message)
    ranked = sorted(
        catalogue.skills, key=lambda name: -overlap(wanted, words_of(catalogue.skills[name]))
    )
    return "\n".join(
        f"- {name}: {_sentence(disarmed(catalogue.skills[name], task.nonce))}"
        for name in ranked[:12]
    )


def _shown(example: Example) -> str:
    plan = json.dumps(example.plan, ensure_ascii=False, separators=(",", ":"))
    return f"Tables: {example.tables}\nMessage: {example.message}\nPlan: {plan}"


def _data(task: Task, catalogue: Catalogue, room: int) -> Message:
    cards = schema_cards(task, catalogue, room, values=True)
    plain = schema_cards(task, catalogue, room, values=False)
    shown, instead = (
        "The data there is:\n"
        + wrap_untrusted(text, "schema of the project's datasets", task.nonce)
        for text in (cards, plain)
    )
    return User(shown, rows=True, without_rows=instead) if cards != plain else User(instead)


def _history(task: Task, recipe: Recipe) -> list[Message]:
    found: list[Message] = []
    earlier = task.history[-recipe.history :] if recipe.history else ()
    if earlier:
        told = "\n".join(f"Person: {each.message[:500]}" for each in earlier)
        found.append(User(f"Earlier messages of the person:\n{disarmed(told, task.nonce)}"))
        answers = "\n".join(f"- {each.answer[:400]}" for each in earlier if each.answer)
        if answers:
            said = wrap_untrusted(answers, "earlier answers", task.nonce)
            found.append(User(f"Earlier answers:\n{said}", rows=True))
    if task.last is not None:
        last = json.dumps({"tool": task.last.tool, "arguments": dict(task.last.arguments)})
        said = wrap_untrusted(last[:4_000], "last call that worked", task.nonce)
        found.append(User(f"The last call that worked; follow-ups usually change it:\n{said}"))
    return found


def _request(task: Task) -> str:
    lines = [f"Today is {task.today.isoformat()}."]
    if task.mentions:
        lines.append(f"Datasets the person points at: {', '.join(task.mentions)}.")
    lines += [
        f"Attached file {name!r}: upload id {upload}." for upload, name in task.attachments[:10]
    ]
    if task.commits:
        lines.append(f"The last change of data is commit {task.commits[-1]}.")
    if task.failed:
        failed = wrap_untrusted(task.failed, "what went wrong", task.nonce, limit=4_000)
        lines.append(f"An earlier plan for this did not work; plan another way:\n{failed}")
    lines.append(f"Message of the person:\n{task.message}")
    return "\n".join(lines)


def _sentence(text: str) -> str:
    first = " ".join(text.split()).split(". ")[0].rstrip(".")
    return first[:200] + "."
