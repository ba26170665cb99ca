"""Services whose requests a library writes: they go out through our own HTTP and nowhere else."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from steward.connections import Http
from steward.connections.catalogue import packages
from steward.connections.catalogue.aws_calls import call_aws
from steward.connections.catalogue.notify_calls import call_notify
from steward.connections.http import HttpLimits
from steward.core.errors import Denied, Invalid, Misconfigured, Unavailable

KEYS = {"access_key_id": "AKIAEXAMPLE", "secret_access_key": "s3cret"}


async def _somewhere(_host: str, _port: int) -> list[str]:
    return ["93.184.216.34"]


@pytest.fixture
def heard() -> list[httpx2.Request]:
    return []


@pytest.fixture
def http(heard: list[httpx2.Request]) -> Http:
    def answer(request: httpx2.Request) -> httpx2.Response:
        heard.append(request)
        return httpx2.Response(200, text="ok")

    return Http(transport=httpx2.MockTransport(answer), resolve=_somewhere)


def _slack(http: Http, secrets: dict[str, str], **arguments: Any) -> bool:
    service = packages.describe("notify-slack")
    return asyncio.run(call_notify(http, service, {}, secrets, arguments))


def test_a_notification_goes_out_through_our_http(http: Http, heard: list[httpx2.Request]) -> None:
    tokens = {
        "field.token_a": "T1JJ3T3L2",
        "field.token_b": "A1BRTD4JD",
        "field.token_c": "TIiajkdnlazkcOXrIdevi7F",
    }
    sent = _slack(http, tokens, body="Sales are up", title="Week 12", targets=["#sales"])
    assert sent is True
    (request,) = heard
    assert request.headers["host"] == "hooks.slack.com"
    assert request.url.path == "/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7F"
    assert "Sales are up" in json.dumps(json.loads(request.content))


def test_values_that_do_not_fit_and_empty_messages_are_refused(http: Http) -> None:
    with pytest.raises(Misconfigured, match="do not fit"):
        _slack(http, {"field.token_a": "no"}, body="x")
    with pytest.raises(Misconfigured, match="no field"):
        _slack(http, {"field.other": "no"}, body="x")
    with pytest.raises(Invalid, match="empty"):
        _slack(http, {}, body=" ")


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    """Other people's code that reads what was signed and sent."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def _aws(http: Http, url: str, service: str, operation: str, **arguments: Any) -> Any:
    return asyncio.run(
        call_aws(
            http,
            service,
            operation,
            arguments,
            region="us-east-1",
            secrets=KEYS,
            base_url=url,
            limits=HttpLimits(),
        )
    )


def test_aws_is_signed_sent_and_read(moto: str) -> None:
    http = Http(allow_private=["127.0.0.0/8"])
    assert _aws(http, moto, "s3", "CreateBucket", Bucket="reports")[0] == 200
    body = "aGVsbG8="
    assert _aws(http, moto, "s3", "PutObject", Bucket="reports", Key="a/b.txt", Body=body)[0] == 200
    status, value, _ = _aws(http, moto, "s3", "GetObject", Bucket="reports", Key="a/b.txt")
    assert (status, value["Body"]) == (200, "hello")
    status, value, _ = _aws(http, moto, "s3", "GetObject", Bucket="reports", Key="none")
    assert (status, value["error"]["Code"]) == (404, "NoSuchKey")
    status, value, _ = _aws(http, moto, "sqs", "CreateQueue", QueueName="jobs")
    assert value["QueueUrl"].endswith("/jobs")


def test_aws_obeys_the_one_door_and_the_schema(moto: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Denied):
        _aws(Http(), moto, "s3", "ListBuckets")
    with pytest.raises(Invalid, match="Bucket"):
        _aws(Http(allow_private=["127.0.0.0/8"]), moto, "s3", "CreateBucket")
    # What the machine says of AWS belongs to the machine, not to the project.
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    assert _aws(Http(allow_private=["127.0.0.0/8"]), moto, "s3", "ListBuckets")[0] == 200


@pytest.mark.parametrize(("status", "said"), [(500, None), (200, "not in its format")])
def test_an_answer_that_is_not_in_the_format_of_aws_is_told(status: int, said: str | None) -> None:
    async def resolve(_host: str, _port: int) -> list[str]:
        return ["93.184.216.34"]

    page = httpx2.Response(status, content=b"<!doctype html>\n<html lang=en><p>Broken")
    http = Http(transport=httpx2.MockTransport(lambda _request: page), resolve=resolve)
    if said is not None:
        with pytest.raises(Unavailable, match=said):
            _aws(http, "https://iam.example", "iam", "ListUsers")
        return
    found, value, _ = _aws(http, "https://iam.example", "iam", "ListUsers")
    assert (found, value["error"]["Message"]) == (500, "The answer is not in the service's format.")
