"""What a wheel declares is read as data, and whatever is not as it says is refused."""

import hashlib
import sys
from pathlib import Path

import pytest

from steward.core.errors import Invalid
from steward.plugins import pack_folder, read_wheel, write_package
from tests.plugins.wheels import EXAMPLE, example, rewritten, scaffold, zipped


def test_the_declaration_says_all_that_a_person_agrees_to() -> None:
    content = example()
    wheel = read_wheel(content)
    assert (wheel.name, wheel.version, wheel.licence) == ("acme-invoices", "1.0.0", "Apache-2.0")
    assert wheel.sha256 == hashlib.sha256(content).hexdigest()
    assert wheel.size == len(content)
    assert wheel.problems == ()
    assert {each.text: each.satisfied for each in wheel.requirements} == {
        "steward": True,
        "pydantic>=2": True,
    }
    assert {(part.kind, part.name, part.runs) for part in wheel.parts} == {
        ("sandboxed_tool", "payment_reference", "sandbox"),
        ("sandboxed_tool", "overdue_by_age", "sandbox"),
        ("node", "due_date", "server"),
        ("guardrail", "no-account-numbers", "server"),
    }
    assert wheel.needs_rights
    assert "acme_invoices/due_date.py" in wheel.files


def test_reading_a_wheel_runs_nothing_in_it(tmp_path: Path) -> None:
    trap = tmp_path / "sprung"
    spring = f"open({str(trap)!r}, 'w').close()\n"
    content = scaffold(tmp_path, "node", shout=spring)
    assert read_wheel(content).parts[0].name == "shout"
    assert not trap.exists()
    assert "acme_tax" not in sys.modules


def test_the_same_files_give_the_same_bytes() -> None:
    assert pack_folder(EXAMPLE) == pack_folder(EXAMPLE)


def test_a_package_without_rights_needs_none(tmp_path: Path) -> None:
    wheel = read_wheel(scaffold(tmp_path))
    assert not wheel.needs_rights
    [part] = wheel.parts
    assert (part.title, part.risk) == ("Add tax", "compute")


def _change(path: str, old: bytes, new: bytes) -> object:
    def change(files: dict[str, bytes]) -> None:
        files[path] = files[path].replace(old, new)

    return change


INFO = "acme_tax-0.1.0.dist-info"


def _outside(files: dict[str, bytes]) -> None:
    files["../evil.py"] = b"x"


def _other_code(files: dict[str, bytes]) -> None:
    files["acme_tax/add_tax.py"] += b"\nx = 1\n"


def _more(files: dict[str, bytes]) -> None:
    files["acme_tax/more.py"] = b"x = 1\n"


def _fewer(files: dict[str, bytes]) -> None:
    del files["acme_tax/py.typed"]


def _compiled(files: dict[str, bytes]) -> None:
    files[f"{INFO}/WHEEL"] = b"Wheel-Version: 1.0\nTag: cp311-cp311-linux_x86_64\n"


def _nameless(files: dict[str, bytes]) -> None:
    files[f"{INFO}/METADATA"] = b"Metadata-Version: 2.1\nVersion: 1\n"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_outside, "leads outside"),
        (_other_code, "is not what the wheel's own list"),
        (_more, "is not what the wheel's own list"),
        (_fewer, "is listed in RECORD and not there"),
        (_compiled, "compiled code"),
        (_nameless, "its name"),
    ],
)
def test_a_wheel_that_is_not_what_it_says_is_refused(
    tmp_path: Path, change: object, said: str
) -> None:
    content = rewritten(scaffold(tmp_path), change)  # type: ignore[arg-type]
    with pytest.raises(Invalid, match=said):
        read_wheel(content)


@pytest.mark.parametrize("content", [b"", b"not a zip", zipped({"a.txt": b"x"})])
def test_what_is_no_wheel_is_refused(content: bytes) -> None:
    with pytest.raises(Invalid):
        read_wheel(content)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("dependencies = []", 'dependencies = ["no-such-thing>=9"]', "it is not installed"),
        ("dependencies = []", 'dependencies = ["pydantic<1"]', "is installed"),
        ('requires-python = ">=3.11"', 'requires-python = ">=4"', "requires Python"),
        ("steward.sandboxed_tool", "steward.backdoor", "no kind of part"),
        ("acme_tax.add_tax:main", "acme_tax.add_tax", "package.module:object"),
        ("acme_tax.add_tax:main", "acme_tax.nowhere:main", "has no module"),
        ("acme_tax.add_tax:main", "acme_tax.add_tax:run", "no function run"),
    ],
)
def test_what_cannot_be_installed_says_why(tmp_path: Path, old: str, new: str, said: str) -> None:
    made = write_package("acme-tax", tmp_path)
    text = (made / "pyproject.toml").read_text()
    assert old in text
    (made / "pyproject.toml").write_text(text.replace(old, new))
    wheel = read_wheel(pack_folder(made)[1])
    assert said in "; ".join(each.message for each in wheel.problems)
    with pytest.raises(Invalid, match="cannot be installed"):
        wheel.refuse_problems()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("from decimal import Decimal", "import socket", "'socket' is not available"),
        ('"x-role": "plain"', '"x-role": "nothing"', "is not a role"),
        (', "x-role": "amount"', "", "declares no x-role"),
        ('"title": "Add tax",', "", "needs a title"),
        ('"title": "Add tax",', '"title": "Add tax", "risk": "write",', "read or compute"),
        ("TOOL = {", "OTHER = {", "it needs TOOL"),
        ("TOOL = {", "TOOL = dict(a=1) or {", "it needs TOOL"),
    ],
)
def test_a_sandboxed_tool_must_declare_itself(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    made = write_package("acme-tax", tmp_path)
    file = made / "acme_tax/add_tax.py"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new, 1))
    wheel = read_wheel(pack_folder(made)[1])
    assert said in "; ".join(each.message for each in wheel.problems)
    assert wheel.parts == ()
