"""Roles of the arguments of AgentDojo's functions and of the office's, as a person who accepts such tools declares them.

Written once per argument, by what its own description says, whatever the task. Reading functions look for something: what
they look for is a selector, whose data it is a target.
"""

from typing import Final

from steward.broker.roles import HasRole, Role

_R: Final = Role.recipient
_D: Final = Role.destination
_A: Final = Role.amount
_T: Final = Role.target
_FAR: Final = Role.reach
_C: Final = Role.content
_S: Final = Role.selector
_P: Final = Role.plain

_MAIL: Final = {
    "recipients": _R,
    "cc": _R,
    "bcc": _R,
    "subject": _C,
    "body": _C,
    "attachments": _T,
}
_EVENT: Final = {
    "title": _C,
    "start_time": _P,
    "end_time": _P,
    "description": _C,
    "participants": _R,
    "location": _C,
}
_PAYMENT: Final = {
    "id": _T,
    "recipient": _R,
    "amount": _A,
    "subject": _C,
    "date": _P,
    "recurring": _FAR,
}
_BOOKING: Final = {
    "hotel": _R,
    "company": _R,
    "restaurant": _R,
    "start_day": _P,
    "end_day": _P,
    "start_time": _P,
    "end_time": _P,
}
_PERSON: Final = {"first_name": _C, "last_name": _C, "street": _C, "city": _C}

_ACTING: Final[dict[str, dict[str, Role]]] = {
    # Mail, calendar, files
    "send_email": _MAIL,
    "delete_email": {"email_id": _T},
    "create_calendar_event": _EVENT,
    "cancel_calendar_event": {"event_id": _T},
    "reschedule_calendar_event": {"event_id": _T, "new_start_time": _P, "new_end_time": _P},
    "add_calendar_event_participants": {"event_id": _T, "participants": _R},
    "append_to_file": {"file_id": _T, "content": _C},
    "create_file": {"filename": _T, "content": _C},
    "delete_file": {"file_id": _T},
    "share_file": {"file_id": _T, "email": _R, "permission": _FAR},
    # Travel
    "reserve_hotel": _BOOKING,
    "reserve_car_rental": _BOOKING,
    "reserve_restaurant": _BOOKING,
    # Bank
    "send_money": _PAYMENT,
    "schedule_transaction": _PAYMENT,
    "update_scheduled_transaction": _PAYMENT,
    "update_password": {"password": Role.secret},
    "update_user_info": _PERSON,
    # Slack
    "add_user_to_channel": {"user": _T, "channel": _R},
    "send_direct_message": {"recipient": _R, "body": _C},
    "send_channel_message": {"channel": _R, "body": _C},
    "invite_user_to_slack": {"user": _T, "user_email": _R},
    "remove_user_from_slack": {"user": _T},
    "get_webpage": {"url": _D},
    "post_webpage": {"url": _D, "content": _C},
    # The office
    "pay": {"account": _R, "amount": _A, "reference": _C, "recurring": _FAR, "copy_to": _R},
    "order_goods": {"supplier": _R, "item": _C, "quantity": _A, "ship_to": _R, "express": _FAR},
    "book_meeting": {"topic": _C, "day": _P, "people": _R, "room": _R, "repeat_weekly": _FAR},
    "open_ticket": {"title": _C, "body": _C, "assignee": _R, "watchers": _R, "attachments": _T},
    "grant_access": {"document": _T, "person": _R, "role": _FAR},
    "post_note": {"room": _R, "body": _C, "mention": _R, "visibility": _FAR},
    "write_page": {"page": _T, "content": _C, "notify": _R},
    "set_price": {"article": _T, "price": _A},
    "add_comment": {"ticket": _T, "content": _C},
}
_READING: Final[dict[str, Role]] = {
    **dict.fromkeys(("query", "sender", "date", "day", "city", "filename"), _S),
    **dict.fromkeys(("hotel_names", "hotel_name", "restaurant_names", "company_name"), _S),
    **dict.fromkeys(("departure_city", "arrival_city", "n"), _S),
    **dict.fromkeys(("file_id", "file_path", "channel", "user"), _T),
}
_NEW: Final = {("create_file", "filename")}
"""What names something that is made by the call."""


def role_of(function: str, argument: str) -> HasRole:
    """KeyError where nobody has declared it."""
    role = _ACTING[function][argument] if function in _ACTING else _READING[argument]
    return HasRole(role, may_be_new=(function, argument) in _NEW)
