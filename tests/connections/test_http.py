"""The HTTP client against a real local server: it goes where it was checked to go, and stops in time."""

import gzip
from datetime import timedelta
from pathlib import Path

import httpx2
import pytest

from steward.connections import HostPatterns, Http, HttpLimits
from steward.core.errors import Denied, Invalid, TooLarge, Unavailable
from tests.connections.outside import Detour, Heard, Names, certificates, ok, redirect, run, serving

PUBLIC = "93.184.216.34"


@pytest.mark.parametrize(
    "charset", ["punycode", "PUNYCODE", "idna", "unicode_escape", "undefined", "rot13", "a\\0b"]
)
def test_a_server_cannot_name_a_codec_that_is_no_charset(charset: str) -> None:
    """One of them takes the square of a text's length; another one makes halves of characters."""
    body = b"caf\\ud800-\xc3\xa9"

    async def work() -> None:
        declared = f"Content-Type: text/plain; charset={charset}"
        async with serving(lambda _: ok(body, declared)) as server:
            http, url = Http(allow_private=["127.0.0.1"]), f"http://127.0.0.1:{server.port}/"
            answer = await http.request("GET", url)
            async with httpx2.AsyncClient(transport=http.transport()) as library:
                other = await library.get(url)
        assert answer.text == other.text == body.decode()

    run(work)


def test_a_request_reaches_a_host_that_an_administrator_named() -> None:
    async def work() -> None:
        async with serving(lambda heard: ok(heard.body, "X-Kind: echo")) as server:
            http = Http(allow_private=["127.0.0.1"])
            url = f"http://127.0.0.1:{server.port}/a?b=1#c"
            answer = await http.request("post", url, headers={"X-A": "1"}, body=b"hi")
        assert (answer.status, answer.body, answer.header("x-kind")) == (200, b"hi", "echo")
        heard = server.heard[0]
        assert (heard.method, heard.path, heard.headers["x-a"]) == ("POST", "/a?b=1", "1")
        assert heard.headers["host"] == f"127.0.0.1:{server.port}"

    run(work)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0177.0.0.1"]
)
def test_nothing_inside_is_called(host: str) -> None:
    async def work() -> None:
        async with serving(lambda _: ok()) as server:
            with pytest.raises((Denied, Invalid), match=r"loopback|IPv4|unusual|not a web"):
                await Http().request("GET", f"http://{host}:{server.port}/")
        assert server.heard == []

    run(work)


def test_a_name_is_looked_up_once_and_the_checked_address_is_called() -> None:
    """DNS rebinding: the second answer, which leads inside, is never asked for."""

    async def work() -> None:
        async with serving(lambda _: ok()) as server:
            names = Names(rebind_example=[[PUBLIC], ["127.0.0.1"]])
            detour = Detour(server.port)
            answer = await Http(resolve=names, transport=detour).request(
                "GET", "http://rebind.example/"
            )
            assert answer.status == 200
            assert (names.asked, detour.meant) == (["rebind.example"], [PUBLIC])
            assert server.heard[0].headers["host"] == "rebind.example"
            with pytest.raises(Denied, match="loopback"):
                await Http(resolve=names, transport=detour).request("GET", "http://rebind.example/")
        assert len(server.heard) == 1

    run(work)


def test_tls_is_checked_for_the_name_while_the_address_is_called(tmp_path: Path) -> None:
    async def work() -> None:
        keys = certificates(tmp_path, "good.example")
        async with serving(lambda _: ok(), keys.server) as server:
            names = Names(good_example=[["127.0.0.1"]], other_example=[["127.0.0.1"]])
            http = Http(allow_private=["127.0.0.1"], resolve=names, tls=keys.client)
            answer = await http.request("GET", f"https://good.example:{server.port}/")
            assert answer.status == 200
            with pytest.raises(Unavailable, match="No connection"):
                await http.request("GET", f"https://other.example:{server.port}/")
            strict = Http(allow_private=["127.0.0.1"], resolve=names)
            with pytest.raises(Unavailable, match="No connection"):
                await strict.request("GET", f"https://good.example:{server.port}/")

    run(work)


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::1]/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://inside.example/",
        "//inside.example/",
        "file:///etc/passwd",
        "http://user:word@start.example/",
    ],
)
def test_redirects_are_checked_like_first_addresses(target: str) -> None:
    async def work() -> None:
        async with serving(lambda _: redirect(target)) as server:
            names = Names(start_example=[[PUBLIC]], inside_example=[["10.0.0.1"]])
            detour = Detour(server.port)
            with pytest.raises((Denied, Invalid)):
                await Http(resolve=names, transport=detour).request("GET", "http://start.example/")
            assert detour.meant == [PUBLIC]

    run(work)


def test_redirects_lead_on_without_secrets_and_within_the_allowed_hosts() -> None:
    def answer(heard: Heard) -> bytes:
        if heard.headers["host"] == "start.example" and heard.path == "/":
            return redirect("/second")
        if heard.path == "/second":
            return redirect("http://other.example/end")
        return ok(b"end")

    async def work() -> None:
        async with serving(answer) as server:
            names = Names(start_example=[[PUBLIC]], other_example=[["1.1.1.1"]])
            http = Http(resolve=names, transport=Detour(server.port))
            found = await http.request(
                "GET",
                "http://start.example/",
                headers={"Authorization": "typed", "X-Kept": "1"},
                secret_headers={"X-Key": "secret"},
            )
            assert (found.body, found.url) == (b"end", "http://other.example/end")
            assert found.hops == ("http://start.example/", "http://start.example/second")
            sent = [("x-key" in h.headers, "authorization" in h.headers) for h in server.heard]
            assert sent == [(True, True), (True, True), (False, False)]
            assert server.heard[2].headers["x-kept"] == "1"
            only = HostPatterns.parse(["http://start.example"])
            with pytest.raises(Denied, match="not among the allowed"):
                await http.request(
                    "GET", "http://start.example/", check=lambda url: only.require(url, "allow")
                )

    run(work)


def test_redirects_end_and_are_not_followed_with_a_body_or_out_of_tls(tmp_path: Path) -> None:
    async def work() -> None:
        names = Names(start_example=[[PUBLIC]])
        async with serving(lambda _: redirect("/again")) as server:
            http = Http(resolve=names, transport=Detour(server.port))
            with pytest.raises(Invalid, match="more than 5 times"):
                await http.request("GET", "http://start.example/")
            assert len(server.heard) == 6
            answer = await http.request("POST", "http://start.example/", body=b"x")
            assert (answer.status, len(server.heard)) == (302, 7)
        keys = certificates(tmp_path, "start.example")
        async with serving(lambda _: redirect("http://start.example/"), keys.server) as server:
            http = Http(resolve=names, transport=Detour(server.port, keys.client))
            with pytest.raises(Denied, match="from https to http"):
                await http.request("GET", "https://start.example/")

    run(work)


def test_size_is_bounded_however_it_is_packed_or_declared() -> None:
    bomb = gzip.compress(b"\0" * 5_000_000)
    answers = {
        "/declared": b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nx",
        "/endless": b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + b"x" * 200_000,
        "/bomb": ok(bomb, "Content-Encoding: gzip"),
        "/nested": ok(gzip.compress(bomb), "Content-Encoding: gzip, gzip"),
        "/packed": ok(gzip.compress(b"fine"), "Content-Encoding: gzip"),
    }

    async def work() -> None:
        async with serving(lambda heard: answers[heard.path]) as server:
            http = Http(allow_private=["127.0.0.1"])
            base = f"http://127.0.0.1:{server.port}"
            limits = HttpLimits(response_bytes=100_000)
            for path in ("/declared", "/endless", "/bomb"):
                with pytest.raises(TooLarge, match="100,000 bytes"):
                    await http.request("GET", base + path, limits=limits)
            with pytest.raises(Denied, match="several times"):
                await http.request("GET", base + "/nested", limits=limits)
            assert (await http.request("GET", base + "/packed", limits=limits)).body == b"fine"
            with pytest.raises(TooLarge):
                await http.request(
                    "POST", base, body=b"x" * 11, limits=HttpLimits(request_bytes=10)
                )

    run(work)


def test_time_is_bounded_and_broken_connections_are_uncertain() -> None:
    async def work() -> None:
        async with serving(
            lambda _: b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"
        ) as server:
            http = Http(allow_private=["127.0.0.1"])
            with pytest.raises(Unavailable) as broken:
                await http.request("GET", f"http://127.0.0.1:{server.port}/")
            assert broken.value.specific_code == "uncertain"
            port = server.port
        with pytest.raises(Unavailable) as absent:
            await http.request("GET", f"http://127.0.0.1:{port}/")
        assert absent.value.specific_code == "http-no-connection"

        async def never(host: str, port: int) -> list[str]:
            import asyncio

            await asyncio.Event().wait()
            return []

        with pytest.raises(Unavailable) as slow:
            await Http(resolve=never).request(
                "GET", "http://slow.example/", limits=HttpLimits(time=timedelta(milliseconds=20))
            )
        assert slow.value.specific_code == "http-timeout"

    run(work)


def test_the_environment_names_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with serving(lambda _: ok(b"proxy")) as proxy, serving(lambda _: ok(b"real")) as real:
            for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
                monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
            http = Http(allow_private=["127.0.0.1"])
            answer = await http.request("GET", f"http://127.0.0.1:{real.port}/")
            assert answer.body == b"real"
            assert proxy.heard == []

    run(work)


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("GET", {"Host": "other.example"}),
        ("GET", {"Transfer-Encoding": "chunked"}),
        ("GET", {"X-A": "1\r\nX-B: 2"}),
        ("GET", {"X A": "1"}),
        ("GET", {"Proxy-Authorization": "x"}),
        ("CONNECT", {}),
        ("GET / HTTP/1.1\r\n", {}),
    ],
)
def test_requests_cannot_be_smuggled(method: str, headers: dict[str, str]) -> None:
    async def work() -> None:
        with pytest.raises(Invalid):
            await Http().request(method, "https://example.com/", headers=headers)

    run(work)


def test_the_next_address_of_a_name_is_tried() -> None:
    async def work() -> None:
        async with serving(lambda _: ok()) as server:
            names = Names(two_example=[["127.0.0.2", "127.0.0.1"]])
            http = Http(allow_private=["127.0.0.0/8"], resolve=names)
            answer = await http.request("GET", f"http://two.example:{server.port}/")
            assert answer.status == 200

    run(work)
