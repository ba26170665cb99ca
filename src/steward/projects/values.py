"""The values of an environment: how a folder is read for one project, such as production."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from steward.core import Invalid, dump_yaml, in_words, mistakes, read_yaml
from steward.playbooks import as_json, read
from steward.projects.kinds import Kind
from steward.projects.parts import Part

_Text = Annotated[str, Field(min_length=1, max_length=300)]


class Values(BaseModel):
    """What differs between environments; everything else is the same in all of them."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    format: Literal[1] = 1
    connections: dict[_Text, _Text] = Field(
        default_factory=dict,
        description="For names of connections in the folder, those to use here.",
    )
    settings: dict[_Text, dict[str, Any]] = Field(
        default_factory=dict, description="Settings of connections, by their names here."
    )
    leave_out: list[_Text] = Field(
        default_factory=list,
        max_length=200,
        description="Paths of files that do not count here, such as policies/*.",
    )


def read_values(text: str) -> Values:
    try:
        return Values.model_validate(read_yaml(text) or {})
    except ValidationError as error:
        raise Invalid(f"The values are not valid: {in_words(mistakes(error))}.") from None


@dataclass
class Reading:
    """Parts of a folder, as the values of one environment have them."""

    values: Values
    kinds: Sequence[Kind]
    used: set[str] = field(default_factory=set)

    def counts(self, part: Part) -> bool:
        return not any(fnmatchcase(part.path, each) for each in self.values.leave_out)

    def parts(self, found: Mapping[tuple[str, str], Part]) -> dict[tuple[str, str], Part]:
        mapped: dict[tuple[str, str], Part] = {}
        for part in filter(self.counts, found.values()):
            new = self._mapped(part)
            if new.key in mapped:
                other = mapped[new.key].path
                raise Invalid(f"The values make {other} and {part.path} the same {new.label}.")
            mapped[new.key] = new
        unused = sorted({*self.values.connections} - self.used)
        unused += sorted(
            {*self.values.settings} - {name for kind, name in mapped if kind == "connection"}
        )
        if unused:
            raise Invalid(
                f"The values name the connection {unused[0]!r}, which the folder does not use."
            )
        return mapped

    def _mapped(self, part: Part) -> Part:
        kind = next(each for each in self.kinds if each.name == part.kind)
        content = part.content
        match part.kind:
            case "connection":
                content = self._connection(content)
            case "playbook":
                document = as_json(read(content["yaml"])[0])
                renamed = self._renamed(document)
                if renamed != document:
                    content = {**content, "yaml": dump_yaml(renamed)}
            case "agent" | "settings":
                content = self._renamed(content)
        return part if content is part.content else kind.part(content, part.path)

    def _connection(self, content: Mapping[str, Any]) -> dict[str, Any]:
        name = self._name(content["name"])
        own, here = f"connection.{content['name']}.", f"connection.{name}."
        found = {**content, "name": name}
        found["settings"] = {**content["settings"], **self.values.settings.get(name, {})}
        if "secrets" in content:
            # Those that were named after the connection go with its name.
            found["secrets"] = {
                field: here + each.removeprefix(own) if each.startswith(own) else each
                for field, each in content["secrets"].items()
            }
        return found

    def _name(self, name: str) -> str:
        if name in self.values.connections:
            self.used.add(name)
        return self.values.connections.get(name, name)

    def _renamed(self, value: Any, at: str = "") -> Any:
        """The document with other names of connections, where fields and names of tools hold them."""
        if isinstance(value, dict):
            return {name: self._renamed(each, name) for name, each in value.items()}
        if isinstance(value, list):
            inner = {"connections": "connection", "tools": "tool"}.get(at, "")
            return [self._renamed(each, inner) for each in value]
        if isinstance(value, str) and at == "connection":
            return self._name(value)
        if isinstance(value, str) and at == "tool" and value.startswith(("mcp.", "api.")):
            word, name, *rest = value.split(".", 2)
            return ".".join([word, self._name(name), *rest])
        return value
