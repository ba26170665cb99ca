"""Which attributes a program may read, wherever it names them: behind a dot, in a format text, in a pandas expression."""

import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from steward.sandbox.words import words

# Names by which one object leads to another that it should not: modules inside modules, frames,
# code, processes, pickles; and what reads attributes or runs code that is given as text.
_FORBIDDEN: Final = frozenset(
    words("""
    os sys subprocess builtins importlib ctypes ctypeslib socket shutil inspect gc signal threading
    multiprocessing pickle marshal codecs posix posixpath pty system popen fork execv execve spawnv
    globals locals f_globals f_locals f_builtins f_back f_code gi_frame gi_code gi_yieldfrom cr_frame
    cr_code ag_frame ag_code tb_frame tb_next tb_lasti func_globals func_code co_code co_consts mro
    modules read_pickle to_pickle read_clipboard to_clipboard read_html read_sql read_sql_query
    read_sql_table to_sql memmap fromfile tofile DataSource f2py distutils testing eval exec compile
    register_filesystem install_extension load_extension create_function attrgetter methodcaller
    Formatter get_type_hints ForwardRef make_dataclass singledispatch singledispatchmethod
    update_wrapper
    """)
)
_NAMED_TUPLE: Final = frozenset({"_asdict", "_replace", "_fields", "_make"})
FORMATTING: Final = frozenset({"format", "format_map"})


def problems_with(name: str) -> Iterator[str]:
    """Why an attribute of this name may not be read."""
    if name.startswith("_") and name not in _NAMED_TUPLE:
        yield f"Private attributes, such as {name!r}, are not available."
    elif name in _FORBIDDEN:
        yield f"The attribute {name!r} is not available."


def allowed(name: object) -> str:
    """The name, at run time; raises when it may not be read."""
    if type(name) is not str:
        raise TypeError("An attribute's name is text.")
    for message in problems_with(name):
        raise AttributeError(message)
    return name


def read(value: Any, name: str, *default: Any) -> Any:
    """`getattr` for programs."""
    name = allowed(name)
    if name in FORMATTING and (isinstance(value, str) or value is str):
        return formatting(value, name)
    return getattr(value, name, *default)


def formatting(value: Any, name: str) -> Any:
    """`value.format` or `value.format_map`; of texts, one that reads no attribute the program may not name."""
    if isinstance(value, str):
        return _bound(str(value), name)
    if isinstance(value, type) and issubclass(value, str):
        return lambda text, *args, **kwargs: _bound(str(text), name)(*args, **kwargs)
    return getattr(value, name)


def _bound(text: str, name: str) -> Callable[..., str]:
    formatter = _Formatter()
    if name == "format":
        return lambda *args, **kwargs: formatter.vformat(text, args, kwargs)
    return lambda mapping: formatter.vformat(text, (), mapping)


class _Formatter(string.Formatter):
    """Formats as texts do themselves."""

    def get_field(
        self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        # As `string` itself reads it; typed nowhere, as it is the interpreter's own.
        first, steps = vars(string)["_string"].formatter_field_name_split(field_name)
        found = self.get_value(first, args, kwargs)
        for is_attribute, name in steps:
            found = read(found, name) if is_attribute else found[name]
        return found, first


def tame_pandas() -> None:
    """`DataFrame.eval` and `query` read attributes of what they find, also when other methods call them by name."""
    from pandas.core.computation.expr import BaseExprVisitor

    plain = BaseExprVisitor.visit_Attribute

    def visit_attribute(visitor: Any, node: Any, **options: Any) -> Any:
        allowed(node.attr)
        return plain(visitor, node, **options)

    BaseExprVisitor.visit_Attribute = visit_attribute
