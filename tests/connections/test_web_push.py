"""Messages for devices: the example of RFC 8291, and what is refused."""

import asyncio

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from steward.connections import WebPush
from steward.connections.web_push import decode, encode, encrypt
from steward.core import Invalid, NotFound, SystemClock, Unavailable
from tests.connections.push_service import HOST, Device, PushService

# Appendix A of RFC 8291.
SENDER = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
RECEIVER = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
RESULT = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6Tlz"
    "AC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)


def web_push(*hosts: str) -> WebPush:
    return WebPush(b"seed", list(hosts) or [HOST], "mailto:office@example.com", SystemClock())


def test_a_message_is_encrypted_as_the_standard_shows() -> None:
    key = ec.derive_private_key(int.from_bytes(decode(SENDER)), ec.SECP256R1())
    message, auth = b"When I grow up, I want to be a watermelon", decode("BTBZMqHH6r4Tts7J_aSIgg")
    salt = decode("DGv6ra1nlYgDCS1FRnbzlw")
    assert encode(encrypt(message, decode(RECEIVER), auth, key=key, salt=salt)) == RESULT


def test_the_device_reads_what_was_sent() -> None:
    device, push = Device(), web_push()
    service = PushService(device)
    asyncio.run(push.send(service.http, push.checked(*device.subscription), {"title": "Grüße"}))
    assert service.got == [{"title": "Grüße"}]


def test_the_sender_stays_the_same_for_an_installation() -> None:
    assert web_push().public_key == web_push().public_key
    other = WebPush(b"other", [HOST], "mailto:office@example.com", SystemClock())
    assert other.public_key != web_push().public_key


@pytest.mark.parametrize(
    ("endpoint", "p256dh", "auth", "code"),
    [
        ("https://attacker.example/x", None, None, "push-service-unknown"),
        (f"http://{HOST}/x", None, None, "push-service-unknown"),
        (f"https://{HOST}@attacker.example/x", None, None, "push-service-unknown"),
        ("https://127.0.0.1/x", None, None, "push-service-unknown"),
        (None, "AAAA", None, "push-keys"),
        (None, "é", None, "push-keys"),
        (None, None, "AAAA", "push-keys"),
    ],
)
def test_other_services_and_broken_keys_are_refused(
    endpoint: str | None, p256dh: str | None, auth: str | None, code: str
) -> None:
    right = Device().subscription
    given = [
        value if value is not None else right[at]
        for at, value in enumerate([endpoint, p256dh, auth])
    ]
    with pytest.raises(Invalid) as refused:
        web_push().checked(*given)
    assert refused.value.specific_code == code


@pytest.mark.parametrize(
    ("status", "error"), [(410, NotFound), (404, NotFound), (500, Unavailable)]
)
def test_a_refusal_of_the_service_is_told(status: int, error: type[Exception]) -> None:
    device, push = Device(), web_push("*.example.com")
    service = PushService(device)
    service.status = status
    with pytest.raises(error):
        asyncio.run(push.send(service.http, push.checked(*device.subscription), {}))
