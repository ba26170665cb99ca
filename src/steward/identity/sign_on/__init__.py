"""Single sign-on with OpenID Connect: providers, sign-ins, and which claims give which roles."""

from steward.identity.sign_on.admission import Admission
from steward.identity.sign_on.desk import SignOn, Start
from steward.identity.sign_on.issuers import Answer, Issuers
from steward.identity.sign_on.logouts import Logouts
from steward.identity.sign_on.providers import Provider, ProviderDocument, Providers, is_loopback

__all__ = [
    "Admission",
    "Answer",
    "Issuers",
    "Logouts",
    "Provider",
    "ProviderDocument",
    "Providers",
    "SignOn",
    "Start",
    "is_loopback",
]
