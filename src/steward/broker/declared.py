"""Arguments that a JSON Schema declares instead of a class: of scripts in skills, of tools on other servers."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Self

from pydantic import ConfigDict, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from steward.broker.schemas import problems_of, schema_problem, with_defaults
from steward.broker.tool import Arguments
from steward.core import Invalid


def arguments_of(schema: Mapping[str, Any], owner: str) -> type[Arguments]:
    """A class of arguments that takes exactly what the schema takes; Invalid when it is not one for an object."""
    try:
        text = json.dumps(schema)
    except (TypeError, ValueError):
        raise Invalid(f"The arguments of {owner} are declared in more than JSON can say.") from None
    return _declared(text, owner)


@lru_cache(maxsize=1_000)
def _declared(text: str, owner: str) -> type[Arguments]:
    # Remembered: checking a schema takes far longer than checking arguments with it.
    schema: dict[str, Any] = json.loads(text)
    wrong = schema_problem(schema)
    if wrong is None and schema.get("type") != "object":
        wrong = "it must be of type object"
    if wrong is not None:
        raise Invalid(f"The arguments of {owner} are declared wrongly: {wrong}.")
    # Unknown names are refused, as for every tool, unless the schema wants them.
    declared = {"additionalProperties": False, **schema}

    class Declared(Arguments):
        model_config = ConfigDict(defer_build=True, extra="allow", frozen=True)

        @classmethod
        def model_validate(cls, obj: Any, **options: Any) -> Self:
            given = with_defaults(declared, obj)
            found = problems_of(declared, given)
            if found:
                raise ValidationError.from_exception_data(
                    owner,
                    [
                        InitErrorDetails(
                            type=PydanticCustomError("schema", "{said}", {"said": each.message}),
                            loc=tuple(part for part in each.pointer.split("/")[1:]),
                            input=None,
                        )
                        for each in found
                    ],
                )
            return super().model_validate(given, **options)

        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
            return dict(declared)

    return Declared
