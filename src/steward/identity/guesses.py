"""Failed sign-ins, counted: who guesses has to wait."""

from typing import Final

import sqlalchemy as sa

from steward.core import Clock, IdentitySettings, RateLimited
from steward.identity._tables import sign_in_failures
from steward.store import EVERYWHERE, Database, Transaction

# One address may hold several people, and a stranger must not lock an account for its owner:
# only the pair is counted tightly.
_ADDRESS_FACTOR: Final = 5
_ACCOUNT_FACTOR: Final = 10
_ADDRESS_LENGTH: Final = 64


class Guesses:
    def __init__(self, database: Database, clock: Clock, settings: IdentitySettings) -> None:
        self._database = database
        self._clock = clock
        self._settings = settings

    def refuse_too_many(self, account: str, address: str) -> None:
        address = address[:_ADDRESS_LENGTH]
        since = self._clock.now() - self._settings.sign_in_window
        allowed = self._settings.sign_in_attempts
        recent = sa.select(sa.func.count()).where(sign_in_failures.c.at > since)
        by_account = sign_in_failures.c.account == account
        by_address = sign_in_failures.c.address == address
        with self._database.read(EVERYWHERE) as tx:
            guessing = (
                tx.execute(recent.where(by_account, by_address)).scalar_one() >= allowed
                or tx.execute(recent.where(by_address)).scalar_one() >= allowed * _ADDRESS_FACTOR
                or tx.execute(recent.where(by_account)).scalar_one() >= allowed * _ACCOUNT_FACTOR
            )
        if guessing:
            wait = int(self._settings.sign_in_window.total_seconds())
            raise RateLimited(
                f"Too many failed sign-ins. Wait {max(1, wait // 60)} minutes and try again.",
                retry_after_seconds=wait,
            )

    def record(self, account: str, address: str) -> None:
        address = address[:_ADDRESS_LENGTH]
        now = self._clock.now()
        with self._database.write(EVERYWHERE) as tx:
            expired = now - self._settings.sign_in_window
            tx.execute(sa.delete(sign_in_failures).where(sign_in_failures.c.at <= expired))
            tx.execute(sa.insert(sign_in_failures).values(account=account, address=address, at=now))

    def forget_within(self, tx: Transaction, account: str) -> None:
        """Somebody proved who they are: earlier mistakes no longer count."""
        tx.execute(sa.delete(sign_in_failures).where(sign_in_failures.c.account == account))
