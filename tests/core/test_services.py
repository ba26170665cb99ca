"""Services are found by typed keys; a missing one is an error that says what needs it."""

import pytest

from steward.core import Service, Services, Unavailable

GREETING = Service[str]("greeting", "Greeting people")
FAREWELL = Service[str]("farewell", "Saying goodbye")


def test_a_part_is_found_by_its_key_and_by_its_name() -> None:
    services = Services(GREETING.of("hello"))
    assert services.use(GREETING) == services["greeting"] == "hello"
    assert list(services) == ["greeting"]


def test_the_last_offer_of_a_name_counts() -> None:
    services = Services(GREETING.of("hello"))
    services.add(GREETING.of("good evening"))
    assert services.use(GREETING) == "good evening"
    assert len(services) == 1


def test_a_missing_part_is_named_with_what_needs_it() -> None:
    services = Services(GREETING.of("hello"))
    assert services.find(FAREWELL) is None
    with pytest.raises(Unavailable, match=r"Saying goodbye needs the farewell service"):
        services.use(FAREWELL)
