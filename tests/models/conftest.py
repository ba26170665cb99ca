"""The wire-format server, stopped when a test ends."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.models.kit import Serve
from tests.models.openai_server import OpenAiServer


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as stack:
        yield lambda replies: stack.enter_context(OpenAiServer(replies))
