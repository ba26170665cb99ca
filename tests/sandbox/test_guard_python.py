"""The Python guard: names what a data program has no use for, and leaves data programs alone."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.sandbox.guard_python import check, reduced_builtins
from steward.sandbox.refused import Refused
from tests.sandbox.attacks import ATTACKS
from tests.sandbox.conftest import Run
from tests.sandbox.programs import HONEST_PROGRAMS, SLY_PROGRAMS

HOSTILE = [
    "import os",
    "import os.path as p",
    "import sys, math",
    "from subprocess import run",
    "from os import *",
    "from pandas import *",
    "from . import x",
    "import pandas.io.common",
    "import numpy.ctypeslib",
    "from numpy import ctypeslib",
    "from pandas import io, compat as c, os",
    "import ctypes",
    "import socket",
    "import pickle",
    "import importlib",
    "import steward",
    "import json as __builtins__",
    "__import__('os')",
    "__builtins__",
    "eval('1')",
    "exec('1')",
    "compile('1', '', 'eval')",
    "globals()",
    "locals()",
    "vars()",
    "dir()",
    "input()",
    "breakpoint()",
    "().__class__",
    "().__class__.__base__.__subclasses__()",
    "(lambda: 0).__globals__",
    "(lambda: 0).__code__",
    "x = 1\nx.__dict__",
    "import math\nmath.__loader__",
    "import math\nmath.__spec__.loader",
    "import pandas as pd\npd.io.common.os.system('id')",
    "import pandas as pd\npd.read_pickle('x')",
    "import pandas as pd\npd.eval('1')",
    "import pandas as pd\nd = pd.DataFrame()\nd.query('@pd.compat.os')",
    "import pandas as pd\nd = pd.DataFrame()\nt = 'a'\nd.query(t)",
    "import numpy as np\nnp.load('x', allow_pickle=True)",
    "import numpy as np\nnp.memmap('/etc/passwd')",
    "import statistics\nstatistics.sys",
    "import json\njson.codecs",
    "import re\nre._compiler",
    "import operator\noperator.attrgetter('__class__')",
    "from operator import attrgetter",
    "import collections\ncollections._sys",
    "import string\nstring.Formatter().get_field('0.get_field.__globals__', [string.Formatter()], {})",
    "from string import Formatter",
    "import string as s\ns.Formatter",
    "import enum\nenum.bltns.open('/etc/passwd')",
    "import csv\ncsv.io.FileIO('/etc/passwd')",
    "from csv import io",
    "import uuid as u\nu.os.system('id')",
    "import typing\ntyping.get_type_hints(print)",
    "import functools\nfunctools.update_wrapper(1, print, assigned=['__self__'])",
    "from functools import singledispatch",
    "from dataclasses import make_dataclass",
    "import warnings\nwarnings.linecache",
    "import copy\ncopy.copyreg",
    "(x for x in [1]).gi_frame",
    "try:\n    1/0\nexcept Exception as e:\n    e.__traceback__",
    "try:\n    1/0\nexcept Exception as e:\n    e.with_traceback(None).tb_frame",
    "'{0.__class__}'.format(1)",
    "str.format('{0.__class__}', 1)",
    "match 1:\n    case int(__class__=c):\n        pass",
    "class A(metaclass=type):\n    pass",
    "class A:\n    def __getattribute__(self, n):\n        pass",
    "class A:\n    def __del__(self):\n        pass",
    "def __init_subclass__():\n    pass",
    "async def f():\n    pass",
    "def f(__x):\n    pass",
    "f = dict(__class__=1)",
    "global __builtins__",
    "con.create_function('f', print)",
    "con.install_extension('httpfs')",
    "con.load_extension('httpfs')",
    "con.register_filesystem(1)",
    "import duckdb\nduckdb.sys",
    "x = 1\n  y = 2",
    "print(",
    "\0",
    "(" * 1000 + ")" * 1000,
    "x = " + "-" * 50_000 + "1",
]

HONEST = [
    "import pandas as pd\nresult = pd.DataFrame({'a': [1]}).groupby('a').size()",
    "import polars as pl, numpy as np\nresult = pl.DataFrame({'a': np.arange(3)})",
    "from collections import defaultdict, Counter\nfrom datetime import date, timedelta",
    "from collections.abc import Iterable\nimport numpy.linalg as la",
    "import re, json, math, statistics, itertools, functools, decimal\nresult = json.loads('[1]')",
    "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n    def __str__(self):\n        return f'{self.x}'",
    "class A:\n    def __init__(self, x):\n        self.x = x\n    def __len__(self):\n        return 1",
    "from collections import namedtuple\nP = namedtuple('P', 'a b')\nresult = P(1, 2)._asdict()",
    "result = [f'{x:>5}' for x in range(3) if x % 2]\nprint('{} {}'.format(1, 2))",
    "with open('out.txt', 'w') as f:\n    f.write('x')",
    "try:\n    int('x')\nexcept ValueError as problem:\n    result = str(problem)",
    "def f(*args, **kwargs):\n    yield from args\nresult = list(f(1, 2))",
    "df = con.execute('SELECT 1').df()\nresult = df[df.columns[0]].sum()",
    "import pandas as pd\nd = pd.DataFrame({'a': [1]})\nresult = d.query('a > 0')",
    "match [1, 2]:\n    case [a, *rest]:\n        result = rest",
    "x = getattr(con, 'execute')\nresult = type(1) is int",
    "if __name__ == '__main__':\n    result = 1",
    "import calendar\nfor calendar in [con]:\n    calendar.execute('SELECT 1')",
]


@pytest.mark.parametrize("code", HOSTILE)
def test_what_data_programs_do_not_need_is_refused(code: str) -> None:
    with pytest.raises(Refused) as refused:
        check(code)
    assert all(finding.message for finding in refused.value.findings)


@pytest.mark.parametrize("code", HONEST)
def test_data_programs_pass(code: str) -> None:
    check(code)


@pytest.mark.parametrize("code", HONEST_PROGRAMS)
def test_honest_programs_run_as_they_would_anywhere(code: str, run: Run) -> None:
    done = run("python", code)
    assert done.status == "done", done.message


@pytest.mark.parametrize("code", SLY_PROGRAMS)
def test_what_is_hidden_from_the_tree_is_refused_at_run_time(code: str, run: Run) -> None:
    done = run("python", code)
    assert done.status in {"refused", "failed"}, done.result
    assert "available" in done.message or "unexpected keyword" in done.message, done.message


def test_the_battery_does_not_pass_the_first_fence_either() -> None:
    for attack in ATTACKS:
        with pytest.raises(Refused):
            check(attack.program)


def test_the_place_is_named() -> None:
    with pytest.raises(Refused) as refused:
        check("a = 1\nb = (a).__class__\nimport os")
    places = [(f.what, f.line, f.column) for f in refused.value.findings]
    assert places == [("Attribute", 2, 5), ("Import", 3, 1)]


def test_the_reduced_builtins_hold_at_run_time(tmp_path: Path) -> None:
    names = reduced_builtins(tmp_path)
    for forbidden in ("eval", "exec", "compile", "globals", "vars", "input", "breakpoint", "dir"):
        assert forbidden not in names
    with pytest.raises(ImportError):
        names["__import__"]("os")
    with pytest.raises(AttributeError):
        names["getattr"]((), "__class__")
    with pytest.raises(AttributeError):
        names["setattr"](test_data_programs_pass, "_x", 1)
    with pytest.raises(TypeError):
        names["type"]("A", (), {})
    with pytest.raises(PermissionError):
        names["open"]("/etc/passwd")
    with pytest.raises(PermissionError):
        names["open"]("../x", "w")
    with pytest.raises(PermissionError):
        names["open"](0)
    with names["open"]("x.txt", "w") as out:
        out.write("y")
    assert (tmp_path / "x.txt").read_text() == "y"


class _Sly(str):
    """Says one thing when looked at and another when used."""

    __slots__ = ()

    def startswith(self, *_: object) -> bool:
        return False


def test_a_name_that_lies_is_no_name(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        reduced_builtins(tmp_path)["getattr"]((), _Sly("__class__"))


@given(st.text(max_size=200))
def test_any_text_is_answered(text: str) -> None:
    with contextlib.suppress(Refused):
        check(text)
