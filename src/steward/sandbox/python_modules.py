"""What a program may import: modules, and of each the names it offers and nothing else.

A program never gets a module itself but a stand-in that holds the allowed names. Modules lead to one another (`csv.io`,
`enum.bltns`), so a name that nobody allowed is not there, however it is reached.
"""

import importlib
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, partial, wraps
from types import ModuleType
from typing import Any, Final

from steward.sandbox.python_attributes import tame_pandas
from steward.sandbox.words import words

MODULES: Final = frozenset(
    words("""
    pandas polars numpy duckdb altair pyarrow math cmath statistics datetime time calendar zoneinfo
    re json csv decimal fractions collections itertools functools operator string textwrap
    unicodedata random dataclasses enum typing bisect heapq copy hashlib base64 uuid difflib
    numbers warnings pprint
    """)
)
_LIBRARIES: Final = frozenset(words("pandas polars numpy duckdb altair pyarrow"))
# Below a module only these: the rest of a large library holds ways to files, pickles and processes.
SUBMODULES: Final = frozenset(
    words("""
    collections.abc json.decoder numpy.linalg numpy.random numpy.fft numpy.ma numpy.polynomial
    numpy.typing numpy.char numpy.strings numpy.exceptions numpy.dtypes numpy.lib.stride_tricks
    pandas.api.types pandas.arrays pandas.errors pandas.tseries.offsets polars.datatypes
    polars.exceptions polars.selectors pyarrow.compute pyarrow.parquet duckdb.typing duckdb.sqltypes
    """)
)
# Public, but with them a text becomes code, or reads attributes that the code itself must not name.
_WITHHELD: Final[Mapping[str, frozenset[str]]] = {
    "string": frozenset({"Formatter"}),
    "operator": frozenset({"attrgetter", "methodcaller"}),
    "functools": frozenset({"singledispatch", "singledispatchmethod", "update_wrapper", "wraps"}),
    "typing": frozenset({"get_type_hints", "ForwardRef"}),
    "dataclasses": frozenset({"make_dataclass"}),
    "zoneinfo": frozenset({"reset_tzpath"}),
    "numpy.lib.stride_tricks": frozenset({"as_strided"}),
    "pandas": frozenset({"eval", "read_pickle", "read_clipboard", "read_html"}),
}


def _wrapping(wrapped: Any) -> Any:
    """`functools.wraps`, without a choice of attributes to copy."""
    return wraps(wrapped)


_INSTEAD: Final[Mapping[str, Mapping[str, Any]]] = {"functools": {"wraps": _wrapping}}


def missing(module: str, name: str) -> bool:
    """Whether a module surely does not offer a name; of libraries, which are slow to load, only a running program finds out."""
    return module in MODULES - _LIBRARIES and not hasattr(available(module), name)


@cache
def available(name: str) -> ModuleType:
    """The stand-in of a module that may be imported."""
    # Under another name: an import that finds nothing here must not find the module in Python's own list.
    stand_in = ModuleType(f"available.{name}")
    if name in MODULES or name in SUBMODULES:
        vars(stand_in).update(_public(name))
    for child in sorted({_child(name, each) for each in SUBMODULES if each.startswith(f"{name}.")}):
        # Some versions of a library do not have it.
        with suppress(ModuleNotFoundError):
            setattr(stand_in, child.rpartition(".")[2], available(child))
    if name == "pandas":
        tame_pandas()
        vars(stand_in)["offsets"] = available("pandas.tseries.offsets")
    vars(stand_in)["__getattr__"] = partial(_not_there, name)
    return stand_in


def _child(name: str, below: str) -> str:
    return f"{name}.{below.removeprefix(f'{name}.').partition('.')[0]}"


def _not_there(module: str, name: str) -> Any:
    raise AttributeError(f"{module}.{name} is not available.")


def _public(name: str) -> dict[str, Any]:
    module = importlib.import_module(name)
    public = [each for each in dir(module) if each[:1] != "_"]
    # Of libraries a part of what is offered is in no list; Python's own modules show what they import as well.
    is_library = name.partition(".")[0] in _LIBRARIES
    offered = public if is_library else getattr(module, "__all__", None) or public
    withheld = _WITHHELD.get(name, frozenset())
    found = {
        each: getattr(module, each)
        for each in offered
        if each not in withheld and hasattr(module, each)
    }
    kept = {each: value for each, value in found.items() if not isinstance(value, ModuleType)}
    return {**kept, **_INSTEAD.get(name, {})}
