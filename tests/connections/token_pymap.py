"""pymap for people with tokens of OAuth 2: it asks the authorization server's own service whether a token is good."""

import re
import sys
from collections.abc import Sequence
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from pymap.config import IMAPConfig
from pymap.main import main
from pysasl import SASLAuth
from pysasl.creds.plain import PlainCredentials
from pysasl.exception import InvalidResponse
from pysasl.mechanism import ChallengeResponse, ServerChallenge, ServerMechanism

mechanism, asked, password, *arguments = sys.argv[1:]
SHAPES = {
    "OAUTHBEARER": rb"n,a=([^,]+),\x01auth=Bearer ([^\x01]+)\x01\x01",
    "XOAUTH2": rb"user=([^\x01]+)\x01auth=Bearer ([^\x01]+)\x01\x01",
}


class Tokens(ServerMechanism):
    def server_attempt(
        self, responses: Sequence[ChallengeResponse]
    ) -> tuple[PlainCredentials, None]:
        if not responses:
            raise ServerChallenge(b"")
        found = re.fullmatch(SHAPES[mechanism], responses[0].response)
        if found is None:
            raise InvalidResponse
        user, token = (each.decode() for each in found.groups())
        return PlainCredentials(user, password if is_good(token) else "no", user), None


def is_good(token: str) -> bool:
    request = Request(asked, headers={"Authorization": f"Bearer {token}"})
    try:
        with urlopen(request) as answer:
            return bool(answer.status == 200)
    except HTTPError:
        return False


offered = SASLAuth([Tokens(mechanism.encode())])
setattr(IMAPConfig, "tls_auth", property(lambda _self: offered))  # noqa: B010 - for the type checker
sys.argv = ["pymap", *arguments]
main()
