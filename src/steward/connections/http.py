"""HTTP that cannot be turned inwards: checked addresses, checked redirects, bounded size and time.

The name is looked up once per request and hop; the connection goes to the address that was checked, while Host and
the certificate's name stay those of the URL. Nothing is taken from the environment, and no cookies are kept.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import httpx2

from steward.connections.addresses import (
    Address,
    Allowed,
    MayReach,
    Resolve,
    literal_address,
    resolve_by_system,
    resolve_checked,
)
from steward.connections.charsets import charset_in, read_text
from steward.connections.client_certificate import ClientCertificate
from steward.connections.hosts import Place, place_of
from steward.core import Denied, Invalid, TooLarge, Unavailable
from steward.trace import HEADER, traceparent

Check = Callable[[str], object]
"""Refuses an address by raising; asked before the request and before every redirect."""

Sink = Callable[[bytes], object]
"""Takes the pieces of a body as they come, so that it is never held as a whole."""

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_SAFE: Final = frozenset({"GET", "HEAD"})
# The whole has its own limit; this one lets a second address be tried in time.
_WAITS: Final = httpx2.Timeout(None, connect=10.0)
# Of these the client says what is right; a caller's own could smuggle a second request or another host.
_OWN_HEADERS: Final = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer"}
)
_AGENT: Final = "steward"
_MOST_CERTIFICATES: Final = 100
_EVERY_ADDRESS: Final = ("0.0.0.0/0", "::/0")


@dataclass(frozen=True)
class HttpLimits:
    response_bytes: int = 10 << 20
    """Of the body as it is read, after decompression."""
    request_bytes: int = 10 << 20
    time: timedelta = timedelta(seconds=30)
    """For everything together: look-ups, connections, redirects, the body."""
    redirects: int = 5


DEFAULT_LIMITS: Final = HttpLimits()


@dataclass(frozen=True)
class HttpAnswer:
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    url: str
    """The address that answered, after redirects."""
    hops: tuple[str, ...] = ()
    """Addresses that redirected, in order."""

    def header(self, name: str) -> str | None:
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), None)

    @property
    def media_type(self) -> str:
        kind = (self.header("content-type") or "application/octet-stream").partition(";")[0]
        return kind.strip().lower()

    @property
    def text(self) -> str:
        """The body as text: by the declared character set where it is known, else UTF-8."""
        return read_text(self.body, charset_in(self.header("content-type") or ""))


class Http:
    """The only way out by HTTP. `allow_private` is the administrator's, never a caller's."""

    def __init__(
        self,
        *,
        allow_private: Sequence[str] = (),
        resolve: Resolve = resolve_by_system,
        transport: httpx2.AsyncBaseTransport | None = None,
        tls: ssl.SSLContext | None = None,
        tells_trace: bool = False,
        may_reach: MayReach | None = None,
    ) -> None:
        """`transport` stands in for the network below the checks; tests see there where a call would go.

        With `tells_trace`, programs are told which span of a trace a call belongs to.
        """
        self._tells_trace = tells_trace
        self._may_reach = may_reach
        self._allowed = Allowed.parse(allow_private)
        self._resolve = resolve
        self._transport = transport
        self._tls = tls
        self._showing: dict[str, ssl.SSLContext] = {}

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        secret_headers: Mapping[str, str] | None = None,
        certificate: ClientCertificate | None = None,
        body: bytes = b"",
        check: Check = place_of,
        follow: bool = True,
        limits: HttpLimits = DEFAULT_LIMITS,
        sink: Sink | None = None,
    ) -> HttpAnswer:
        """One request and, for GET and HEAD, the redirects it leads to.

        `check` refuses addresses by raising. `secret_headers` go to the first host only, never along a redirect; with a
        `certificate`, redirects to other hosts are refused. The body of a success goes to `sink`, where there is one.
        An answer of any status is an answer; Unavailable means there was none.
        """
        wanted = method.upper()
        _check_request(wanted, {**(headers or {}), **(secret_headers or {})}, body, limits)
        follow = follow and wanted in _SAFE
        if certificate is not None:
            check = _only(place_of(url), check)
        seconds = limits.time.total_seconds()
        try:
            async with asyncio.timeout(seconds), await self._line_showing(certificate) as line:
                return await self._followed(
                    line,
                    wanted,
                    url,
                    dict(headers or {}),
                    dict(secret_headers or {}),
                    body,
                    check,
                    limits.redirects if follow else 0,
                    limits,
                    sink,
                )
        except TimeoutError:
            raise Unavailable(
                f"{place_of(url).text} took longer than {seconds:g} seconds.", code="http-timeout"
            ) from None

    async def _followed(
        self,
        line: httpx2.AsyncBaseTransport,
        method: str,
        url: str,
        headers: dict[str, str],
        secret_headers: dict[str, str],
        body: bytes,
        check: Check,
        redirects: int,
        limits: HttpLimits,
        sink: Sink | None,
    ) -> HttpAnswer:
        hops: list[str] = []
        first = place_of(url)
        while True:
            check(url)
            place = place_of(url)
            sent = self.trace_headers() | headers | (secret_headers if place == first else {})
            answer = await self._once(line, method, url, place, sent, body, limits, sink)
            target = answer.header("location")
            redirecting = answer.status in _REDIRECTS and target is not None
            if target is None or not redirecting or redirects == 0:
                if redirecting and hops:
                    raise Invalid(
                        f"{first.text} redirects more than {limits.redirects} times.",
                        code="too-many-redirects",
                    )
                return HttpAnswer(answer.status, answer.headers, answer.body, url, tuple(hops))
            hops.append(url)
            url = _redirected(url, target)
            redirects -= 1
            if place_of(url) != place:
                headers = {k: v for k, v in headers.items() if not _is_credential(k)}

    async def _once(
        self,
        line: httpx2.AsyncBaseTransport,
        method: str,
        url: str,
        place: Place,
        headers: Mapping[str, str],
        body: bytes,
        limits: HttpLimits,
        sink: Sink | None,
    ) -> HttpAnswer:
        addresses = await self.checked_addresses(place)
        failed: httpx2.HTTPError | None = None
        for address in addresses:
            request = _to_address(method, url, place, address, headers, body)
            try:
                response = await line.handle_async_request(request)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as problem:
                # Nothing was sent: the next address of the same name may be reachable.
                failed = problem
                continue
            except (httpx2.HTTPError, httpx2.StreamError) as problem:
                raise _lost(place, problem) from None
            try:
                read = b"" if method == "HEAD" else await _read(response, place, limits, sink)
            except (httpx2.HTTPError, httpx2.StreamError) as problem:
                raise _lost(place, problem) from None
            finally:
                await response.aclose()
            return HttpAnswer(
                response.status_code, tuple(response.headers.multi_items()), read, url
            )
        raise Unavailable(
            f"No connection to {place.text} ({type(failed).__name__}: {str(failed)[:200]}).",
            code="http-no-connection",
        )

    def transport(
        self, most_bytes: int = DEFAULT_LIMITS.response_bytes
    ) -> httpx2.AsyncBaseTransport:
        """A way out for protocol libraries that bring their own client: the same checks for every request."""
        return _Checked(self, most_bytes)

    def inside(self) -> "Http":
        """The same for addresses that an administrator has named: private ones are as good as public ones."""
        return Http(
            allow_private=_EVERY_ADDRESS,
            resolve=self._resolve,
            transport=self._transport,
            tls=self._tls,
            tells_trace=self._tells_trace,
            may_reach=self._may_reach,
        )

    def trace_headers(self) -> dict[str, str]:
        """Which span a request of now belongs to, for those who may know."""
        value = traceparent() if self._tells_trace else None
        return {} if value is None else {HEADER: value}

    async def checked_addresses(self, place: Place) -> tuple[Address, ...]:
        return await resolve_checked(
            place.host,
            place.port,
            resolve=self._resolve,
            allowed=self._allowed,
            may_reach=self._may_reach,
        )

    def trusted_certificates(self) -> bytes:
        """In PEM, of those who vouch for servers: for protocols that HTTP does not carry, with the same checks."""
        found = self._trust().get_ca_certs(binary_form=True)
        return "".join(ssl.DER_cert_to_PEM_cert(each) for each in found).encode()

    def _line(self) -> httpx2.AsyncBaseTransport:
        """A transport and no client: clients know redirects, cookies and proxies of their own."""
        if self._transport is not None:
            return self._transport
        return httpx2.AsyncHTTPTransport(verify=self._trust(), trust_env=False, retries=0)

    def _trust(self) -> ssl.SSLContext:
        if self._tls is None:
            # Reading all certificates takes a while: once, and not before it is needed.
            self._tls = httpx2.create_ssl_context(trust_env=False)
        return self._tls

    async def _line_showing(
        self, certificate: ClientCertificate | None
    ) -> httpx2.AsyncBaseTransport:
        if certificate is None or self._transport is not None:
            return self._line()
        tls = self._showing.get(certificate.digest)
        if tls is None:
            tls = await asyncio.to_thread(_showing, self._trust(), certificate)
            if len(self._showing) >= _MOST_CERTIFICATES:
                self._showing.clear()
            self._showing[certificate.digest] = tls
        return httpx2.AsyncHTTPTransport(verify=tls, trust_env=False, retries=0)


def _showing(trust: ssl.SSLContext, certificate: ClientCertificate) -> ssl.SSLContext:
    """Trusts the same servers, and shows them who calls."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.load_verify_locations(cadata=b"".join(trust.get_ca_certs(binary_form=True)))
    certificate.load(made)
    return made


def _only(place: Place, check: Check) -> Check:
    def checked(url: str) -> None:
        check(url)
        if place_of(url) != place:
            raise Denied(
                f"{place.text} redirects to {place_of(url).text}; Steward does not show the client certificate there.",
                code="bad-redirect",
            )

    return checked


class _Checked(httpx2.AsyncBaseTransport):
    """Takes each request to an address that was checked just before, and bounds what comes back."""

    def __init__(self, http: Http, most_bytes: int) -> None:
        self._http = http
        self._most = most_bytes
        self._below = http._line()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        place = place_of(request.url)
        addresses = await self._http.checked_addresses(place)
        request.headers["Host"] = place.text
        for name, value in self._http.trace_headers().items():
            request.headers.setdefault(name, value)
        if literal_address(place.host) is None:
            request.extensions = {**request.extensions, "sni_hostname": place.host}
        meant = request.url
        # The SDKs that use this join redirects to the URL they asked for, so it is put back afterwards.
        request.url = meant.copy_with(host=str(addresses[0]))
        try:
            response = await self._below.handle_async_request(request)
        finally:
            request.url = meant
        kind = response.headers.get("content-type", "")
        # The library that asked would take the server's word for it.
        if "charset" in kind.lower():
            plain = kind.partition(";")[0]
            response.headers["content-type"] = f"{plain}; charset={charset_in(kind)}"
        stream = response.stream
        if isinstance(stream, httpx2.AsyncByteStream):
            response.stream = _Bounded(stream, place, self._most)
        return response

    async def aclose(self) -> None:
        await self._below.aclose()


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, place: Place, most: int) -> None:
        self._stream = stream
        self._place = place
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        seen = 0
        async for piece in self._stream:
            seen += len(piece)
            if seen > self._most:
                raise _too_large(self._place, HttpLimits(response_bytes=self._most))
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


def _to_address(
    method: str,
    url: str,
    place: Place,
    address: Address,
    headers: Mapping[str, str],
    body: bytes,
) -> httpx2.Request:
    """The request as it leaves: to an address, in the name of the host."""
    fixed = {
        "Host": place.text,
        "User-Agent": _AGENT,
        "Accept": "*/*",
        # Not asked for: what arrives is what is counted. Some servers compress all the same.
        "Accept-Encoding": "identity",
    }
    own = {name.lower() for name in headers}
    sent = {k: v for k, v in fixed.items() if k.lower() not in own} | dict(headers)
    extensions = {} if literal_address(place.host) else {"sni_hostname": place.host}
    return httpx2.Request(
        method,
        httpx2.URL(url).copy_with(host=str(address), fragment=None),
        headers=sent,
        content=body or None,
        extensions={**extensions, "timeout": _WAITS.as_dict()},
    )


async def _read(
    response: httpx2.Response, place: Place, limits: HttpLimits, sink: Sink | None
) -> bytes:
    encodings = response.headers.get("content-encoding", "")
    if "," in encodings:
        raise Denied(
            f"{place.text} compressed its answer several times over; that is not unpacked.",
            code="http-encoding",
        )
    declared = response.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limits.response_bytes:
        raise _too_large(place, limits)
    kept, size = bytearray(), 0
    keep: Sink = sink if sink is not None and 200 <= response.status_code < 300 else kept.extend
    # Pieces are decompressed one by one, so that a bomb is stopped at the limit.
    async for piece in response.aiter_bytes():
        size += len(piece)
        if size > limits.response_bytes:
            raise _too_large(place, limits)
        keep(piece)
    return bytes(kept)


def _redirected(url: str, target: str) -> str:
    try:
        joined = httpx2.URL(url).join(target)
    except httpx2.InvalidURL:
        raise Invalid(
            f"{place_of(url).text} redirects to something that is no web address.",
            code="bad-redirect",
        ) from None
    if httpx2.URL(url).scheme == "https" and joined.scheme != "https":
        raise Denied(
            f"{place_of(url).text} redirects from https to {joined.scheme[:20]}; that is not followed.",
            code="bad-redirect",
        )
    place_of(joined)
    return str(joined)


def _check_request(
    method: str, headers: Mapping[str, str], body: bytes, limits: HttpLimits
) -> None:
    if not (method.isascii() and method.isalpha()) or method in {"CONNECT", "TRACE"}:
        raise Invalid(f"{method[:20]!r} is not a method that can be sent.")
    if len(body) > limits.request_bytes:
        raise TooLarge(f"The body has more than {limits.request_bytes:,} bytes.")
    for name, value in headers.items():
        if name.lower() in _OWN_HEADERS or name.lower().startswith("proxy-"):
            raise Invalid(f"The header {name!r} is set by Steward itself; leave it out.")
        if not name or not all(c.isascii() and (c.isalnum() or c in "-_") for c in name):
            raise Invalid(f"{name[:50]!r} is not the name of a header.")
        if any(c in "\r\n\0" for c in value):
            raise Invalid(f"The header {name!r} holds a line end.")


def _is_credential(name: str) -> bool:
    return name.lower() in {"authorization", "cookie"}


def _too_large(place: Place, limits: HttpLimits) -> TooLarge:
    return TooLarge(f"{place.text} answered with more than {limits.response_bytes:,} bytes.")


def _lost(place: Place, problem: Exception) -> Unavailable:
    """After the request went out: whether it was acted upon is not known."""
    return Unavailable(
        f"The connection to {place.text} broke ({type(problem).__name__}); whether the request was acted "
        "upon is not known.",
        code="uncertain",
    )
