"""Webhooks are signed as Standard Webhooks 1.0 says, and checked the same way."""

import base64
from datetime import UTC, datetime, timedelta

import pytest

from steward.connections import sign, signing_key
from steward.connections.webhooks import verify
from steward.core.errors import Denied, Invalid

# The example of the specification.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
MESSAGE = "msg_p5jXN8AQM9LWM0D4loKWxJek"
MOMENT = datetime.fromtimestamp(1614265330, UTC)
BODY = b'{"test": 2432232314}'
SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_signature_is_the_one_of_the_specification() -> None:
    assert sign(signing_key(SECRET), MESSAGE, MOMENT, BODY) == {
        "webhook-id": MESSAGE,
        "webhook-timestamp": "1614265330",
        "webhook-signature": SIGNATURE,
    }


def test_a_genuine_message_is_recognised_also_while_keys_change() -> None:
    key = signing_key(SECRET)
    headers = {
        "Webhook-Id": MESSAGE,
        "Webhook-Timestamp": "1614265330",
        "Webhook-Signature": f"v1a,other v1,bm9uc2Vuc2U= {SIGNATURE}",
    }
    assert verify(key, headers, MOMENT + timedelta(minutes=4), BODY) == MESSAGE


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"webhook-id": "msg_other"}, "webhook-signature"),
        ({"webhook-timestamp": "1614265331"}, "webhook-signature"),
        ({"webhook-timestamp": "-5"}, "webhook-malformed"),
        ({"webhook-timestamp": "1614265930"}, "webhook-stale"),
        ({"webhook-signature": ""}, "webhook-signature"),
        ({"webhook-signature": SIGNATURE.replace("v1,", "v2,")}, "webhook-signature"),
        ({"webhook-id": ""}, "webhook-malformed"),
    ],
)
def test_what_was_altered_is_refused(change: dict[str, str], code: str) -> None:
    key = signing_key(SECRET)
    headers = sign(key, MESSAGE, MOMENT, BODY)
    with pytest.raises(Denied) as refused:
        verify(key, headers | change, MOMENT, BODY)
    assert refused.value.specific_code == code
    with pytest.raises(Denied):
        verify(key, headers, MOMENT, BODY + b" ")
    with pytest.raises(Denied):
        verify(b"x" * 32, headers, MOMENT, BODY)


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_!!", "whsec_" + "QUJD"])
def test_a_weak_or_broken_secret_is_refused(secret: str) -> None:
    with pytest.raises(Invalid, match="signing secret"):
        signing_key(secret)
    assert len(signing_key("whsec_" + base64.b64encode(b"k" * 24).decode())) == 24


def test_an_id_that_could_shift_the_signed_text_is_refused() -> None:
    with pytest.raises(Invalid):
        sign(b"k" * 24, "a.b", MOMENT, BODY)
