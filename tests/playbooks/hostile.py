"""Two hundred documents that nobody should take in, made by rule; each must be refused with a line."""

from collections.abc import Iterator

GOOD = """\
format: 1
id: a-playbook
budget: {usd: 1}
steps:
  - id: ask
    question: Really
"""


def hostile() -> Iterator[tuple[str, str | bytes]]:
    """Name and content."""
    yield from _bombs()
    yield from _tags()
    yield from _broken()
    yield from _large()
    yield from _wrong_types()
    yield from _paths()
    yield from _unknown()
    yield from _meaning()


def _bombs() -> Iterator[tuple[str, str]]:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [
        f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    yield "billion laughs", GOOD + "\n".join(lines)
    yield "billion laughs first", "\n".join(lines) + "\n" + GOOD
    for place in ("format", "id", "budget", "steps", "goal", "inputs"):
        yield f"anchor at {place}", GOOD + f"x_{place}: &anchor {{a: 1}}\n"
        yield f"alias at {place}", GOOD + f"x_{place}: *anchor\n"
    yield "merge key", GOOD + "inputs:\n  <<: {type: object}\n"
    yield "anchored scalar", GOOD.replace("id: a-playbook", "id: &x a-playbook")
    yield "itself", GOOD + "inputs: &x {properties: *x}\n"


def _tags() -> Iterator[tuple[str, str]]:
    tags = [
        *("!!python/object/apply:os.system [id]", "!!python/name:os.system", "!!python/module:os"),
        *("!!python/object:object {}", "!!python/tuple [1]", "!!python/bytes x", "!!binary aGk="),
        *("!!set {a}", "!!omap [a: 1]", "!!pairs [a: 1]", "!!timestamp 2026-01-01", "!!str x"),
        *("!!int '1'", "!!float '1'", "!!null ''", "!!bool 'true'", "!!map {}", "!!seq []"),
        *("!custom x", "!<tag:x.org,2026:y> x", "!include /etc/passwd", "!ENV ${HOME}", "!vault x"),
    ]
    for tag in tags:
        yield f"tag {tag}", GOOD + f"goal: {tag}\n"
    yield "tag directive", "%TAG ! tag:x.org,2026:\n---\n" + GOOD + "goal: !x y\n"
    yield "yaml directive", "%YAML 3.0\n---\n" + GOOD


def _broken() -> Iterator[tuple[str, str | bytes]]:
    for name in ("format", "id", "budget", "steps"):
        value = {"format": "1", "id": "a-playbook", "budget": "{usd: 1}", "steps": "[]"}[name]
        yield f"{name} twice", GOOD + f"{name}: {value}\n"
    yield "twice inside", GOOD + "inputs: {type: object, type: object}\n"
    yield "two documents", GOOD + "---\n" + GOOD
    yield "NUL", GOOD + "goal: a\0b\n"
    yield "escaped NUL", GOOD + 'goal: "a\\0b"\n'
    yield "surrogate", GOOD + 'goal: "\\ud800"\n'
    yield "control", GOOD + "goal: a\x07b\n"
    yield "escaped control", GOOD + 'goal: "a\\x07b"\n'
    yield "escape sequence", GOOD + 'name: "\\e[31mred"\n'
    yield "mark inside", GOOD + "\ufeffgoal: x\n"
    yield "right to left", GOOD + 'name: "\\u202egnp.exe"\n'
    yield "tab", "format: 1\n\tid: x\n"
    yield "unclosed list", GOOD + "tools: [a, b\n"
    yield "unclosed object", GOOD + "inputs: {type: object\n"
    yield "unclosed text", GOOD + 'goal: "x\n'
    yield "indented wrongly", GOOD + "  goal: x\n"
    yield "a colon too many", GOOD + "goal: a: b: c\n"
    yield "complex key", GOOD + "? [a]\n: b\n"
    yield "empty", ""
    yield "only a comment", "# nothing\n"
    yield "null", "null\n"
    yield "UTF-16", GOOD.encode("utf-16")
    yield "Latin-1", (GOOD + "goal: Gr\xfc\xdfe\n").encode("latin-1")
    yield "bytes", bytes(range(128, 256))
    yield "percent", "%\n"
    yield "at sign", "@x: 1\n"
    yield "backtick", "`x`: 1\n"


def _large() -> Iterator[tuple[str, str]]:
    yield "too long", GOOD + "goal: " + "x" * 500_000
    yield "too many lines", GOOD + "# x\n" * 200_000
    yield (
        "too many steps",
        GOOD + "".join(f"  - {{id: s{number}, question: Really}}\n" for number in range(300)),
    )
    for sign, end in (("[", "]"), ("{a: ", "}")):
        for depth in (150, 1_000, 20_000):
            closed = sign * depth + end * depth
            yield f"{depth} deep {sign}", GOOD + f"inputs: {closed}\n"
    yield "deep and open", GOOD + "goal: " + "[" * 50_000
    yield (
        "deep by indentation",
        GOOD + "inputs:\n" + "".join(" " * depth + "- \n" for depth in range(1, 200)),
    )
    yield "a long number", GOOD.replace("usd: 1", "usd: " + "9" * 10_000)
    yield "an endless number", GOOD.replace("usd: 1", "usd: 1.0e999")
    yield "a long key", GOOD + "k" * 2_000 + ": 1\n"
    yield "a long goal", GOOD + "goal: " + "x" * 20_000


def _wrong_types() -> Iterator[tuple[str, str]]:
    wrong = {
        "format": ("2", "'1'", "true", "[1]", "null"),
        "id": ("1", "true", "[]", "{}", "''", "null", "A-B", "-a", "a--b", "a_b", "ä"),
        "budget": (
            "1",
            "[]",
            "null",
            "{}",
            "{usd: -1}",
            "{usd: x}",
            "{usd: 1, rows: 1.5}",
            "{tokens: []}",
        ),
        "steps": ("1", "{}", "[]", "[1]", "[x]", "null", "[[]]", "[{}]", "[{id: x}]"),
    }
    for field, values in wrong.items():
        for value in values:
            lines = [line for line in GOOD.splitlines() if not line.startswith(f"{field}:")]
            if field == "steps":
                lines = lines[:-2]
            yield f"{field}: {value}", "\n".join([*lines, f"{field}: {value}"]) + "\n"
    further = {
        "name": ("1", "[]", "{}"),
        "folder": ("1", "[a]"),
        "inputs": ("[]", "x", "{type: string}", "{type: nothing}", "{type: object, properties: 1}"),
        "tools": ("x", "{}", "[1]", "[no_such_tool]"),
        "triggers": (
            "x",
            "[x]",
            "[{}]",
            "[{type: moon}]",
            "[{type: cron}]",
            "[{type: cron, cron: x}]",
        ),
        "approval": (
            "x",
            "{}",
            "{preset: none}",
            "{preset: trusted, cedar: x}",
            "{cedar: nonsense}",
        ),
        "artifacts": (
            "x",
            "[x]",
            "[{}]",
            "[{path: a, required: maybe}]",
            "[{path: a, max_bytes: -1}]",
        ),
        "allowed": ("x", "[]", "{users: x}", "{users: [1]}", "{everyone: perhaps}"),
        "owner": ("1", "[]", "nobody@example.com"),
        "graph": ("{nodes: []}", "x"),
    }
    for field, values in further.items():
        for value in values:
            yield f"{field}: {value}", GOOD + f"{field}: {value}\n"


def _paths() -> Iterator[tuple[str, str]]:
    tricks = [
        *(
            "../up",
            "a/../../up",
            "/etc/passwd",
            "//host/share",
            "a//b",
            "./a",
            "a/.",
            "~/x",
            "~root/x",
        ),
        *("C:/x", "a\\\\b", "..\\\\up", "a/ b", "a /b", "file:///etc/passwd", "a/\\0", "a\\nb"),
    ]
    for path in tricks:
        yield f"artifact {path}", GOOD + f'artifacts: [{{path: "{path}"}}]\n'
    for folder in (
        "../up",
        "/root",
        "a//b",
        "a/../b",
        ".",
        "..",
        "a\\\\b",
        "C:",
        " a",
        "a/",
        "a\\nb",
    ):
        yield f"folder {folder}", GOOD + f'folder: "{folder}"\n'
    for name in ("../up", "a/b", "a.yaml", "CON:", "a b", ".hidden", "a\\0"):
        yield f"id {name}", GOOD.replace("id: a-playbook", f'id: "{name}"')


def _unknown() -> Iterator[tuple[str, str]]:
    for name in ("exec", "command", "env", "__class__", "constructor", "secrets", "run_as", "x"):
        yield f"unknown {name}", GOOD + f"{name}: 1\n"


def _meaning() -> Iterator[tuple[str, str]]:
    step = "  - {id: more, tool: profile, arguments: "
    for arguments in (
        "{}",
        "{dataset: 1}",
        "{dataset: a, more: b}",
        '{dataset: "${nodes.none.output}"}',
    ):
        yield f"arguments {arguments}", GOOD + step + arguments + "}\n"
    for text in ("${", "${1 +}", "${__import__('os')}", "${env.HOME}"):
        yield f"expression {text}", GOOD.replace("Really", f'"{text}"')
    yield "a tool that is not there", GOOD + "  - {id: more, tool: rm_rf}\n"
    yield "the same step twice", GOOD + "  - {id: ask, question: Again}\n"
    yield "needs itself", GOOD + "  - {id: more, question: Again, needs: [more]}\n"
    yield "neither steps nor graph", "format: 1\nid: a\nbudget: {usd: 1}\n"
