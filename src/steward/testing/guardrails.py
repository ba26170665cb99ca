"""The contract of guardrails: what every one keeps, whoever wrote it."""

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from pydantic import ValidationError

from steward.agents import About, Guardrail

_TEXTS = (
    "",
    " ",
    "All is well.",
    "ALL CAPITALS",
    "{}",
    "1,234.56 €",
    "日本語",
    "a" * 10_000,
    "\x00\ud83d",
)


def check_guardrail(name: str, kind: type[Guardrail]) -> None:
    """AssertionError says what a guardrail does not keep."""
    assert (kind.__doc__ or "").strip(), f"{name} does not say what it refuses"
    assert kind.stage in {"input", "output"}, f"{name} looks at {kind.stage!r}"
    Draft202012Validator.check_schema(kind.model_json_schema())
    try:
        made = kind()
    except ValidationError as problem:
        wrong = [each for each in problem.errors() if each["type"] != "missing"]
        assert not wrong, f"{name} cannot be made: {wrong[0]['msg']}"
        return
    for text in _TEXTS:
        found = made.check(text, About(sources=("All is well.",)))
        said: object = found
        assert said is None or (isinstance(said, str) and said), (
            f"{name} says neither nothing nor what is wrong with {text[:20]!r}"
        )
        assert made.check(text, About(sources=("All is well.",))) == found, (
            f"{name} changes its mind about {text[:20]!r}"
        )
