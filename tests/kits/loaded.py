"""For processes that others are forked from: all that opening and driving Steward loads and looks up once."""

import gc
from tempfile import TemporaryDirectory

from steward.app import open_steward
from steward.core import load_settings
from steward.flows.expressions import expressions_in


def load_everything() -> None:
    """Starts no thread, as a process with threads does not fork safely."""
    with TemporaryDirectory() as home:
        open_steward(load_settings(home=home)).close()
    # The grammar of expressions takes more than a second to build.
    assert list(expressions_in("${inputs.n}"))


def stay_loaded() -> None:
    """What is loaded is never garbage: not looking at it keeps its pages shared with the children."""
    gc.freeze()
