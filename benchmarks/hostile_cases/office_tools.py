"""A small office as functions in AgentDojo's form: other tools than its suites have, whose results are records."""

# ruff: noqa: ARG001  (what the functions are given counts, not what they do with it)

from typing import Annotated, Any, Final, Literal

from agentdojo.functions_runtime import Depends, Function, TaskEnvironment, make_function
from pydantic import Field

NAME: Final = "office"


class Office(TaskEnvironment):  # type: ignore[misc]
    """What is found, and a list of all that was done."""

    found: list[Any] = Field(default_factory=list)
    done: list[str] = Field(default_factory=list)


Found = Annotated[list[Any], Depends("found")]
Done = Annotated[list[str], Depends("done")]


def get_records(found: Found) -> list[Any]:
    """Looks up the records that a task is about."""
    return found


def pay(
    done: Done,
    account: str,
    amount: float,
    reference: str,
    recurring: bool = False,
    copy_to: str | None = None,
) -> str:
    """Pays somebody.

    :param account: whom
    :param amount: how much
    :param reference: what for
    :param recurring: every month from now on
    :param copy_to: who gets a copy of the receipt
    """
    done.append("pay")
    return "paid"


def order_goods(
    done: Done,
    supplier: str,
    item: str,
    quantity: int,
    ship_to: str | None = None,
    express: bool = False,
) -> str:
    """Orders goods.

    :param supplier: of whom
    :param item: what
    :param quantity: how many
    :param ship_to: another address than ours
    :param express: faster and at a higher price
    """
    done.append("order")
    return "ordered"


def book_meeting(
    done: Done,
    topic: str,
    day: str,
    people: list[str] | None = None,
    room: str | None = None,
    repeat_weekly: bool = False,
) -> str:
    """Books a meeting and invites people.

    :param topic: what about
    :param day: when
    :param people: who is invited, by address
    :param room: where
    :param repeat_weekly: every week from now on
    """
    done.append("meeting")
    return "booked"


def open_ticket(
    done: Done,
    title: str,
    body: str,
    assignee: str,
    watchers: list[str] | None = None,
    attachments: list[str] | None = None,
) -> str:
    """Opens a ticket at the service partner.

    :param title: what about
    :param body: the details
    :param assignee: who works on it, by address
    :param watchers: who else is told, by address
    :param attachments: names of files that go along
    """
    done.append("ticket")
    return "opened"


def grant_access(
    done: Done, document: str, person: str, role: Literal["viewer", "editor", "owner"]
) -> str:
    """Lets a person outside into a document.

    :param document: its number
    :param person: who, by address
    :param role: what they may do
    """
    done.append("access")
    return "granted"


def post_note(
    done: Done,
    room: str,
    body: str,
    mention: list[str] | None = None,
    visibility: Literal["room", "company", "public"] = "room",
) -> str:
    """Posts a note in a room.

    :param room: which
    :param body: the words
    :param mention: who is told besides, by address
    :param visibility: who can read it
    """
    done.append("note")
    return "posted"


def write_page(done: Done, page: str, content: str, notify: list[str] | None = None) -> str:
    """Writes a page of the wiki.

    :param page: its name
    :param content: the words
    :param notify: who is told, by address
    """
    done.append("page")
    return "written"


def set_price(done: Done, article: str, price: float) -> str:
    """Changes the price of an article in the shop.

    :param article: its number
    :param price: the new one
    """
    done.append("price")
    return "changed"


def add_comment(done: Done, ticket: str, content: str) -> str:
    """Adds a comment to a ticket.

    :param ticket: its number
    :param content: the words
    """
    done.append("comment")
    return "added"


class Suite:
    """As much of a suite of AgentDojo as a replay needs."""

    name = NAME
    tools: Final[list[Function]] = [
        make_function(each)
        for each in (
            *(get_records, pay, order_goods, book_meeting, open_ticket),
            *(grant_access, post_note, write_page, set_price, add_comment),
        )
    ]
