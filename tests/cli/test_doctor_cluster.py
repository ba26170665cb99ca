"""`steward doctor` on the parts that several machines share: each is proven by use, and its absence is found."""

import asyncio
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from steward.app import diagnose, open_steward
from steward.app.diagnose_cluster import check_blobs, check_bus, check_workers
from steward.app.findings import Finding
from steward.app.foundation import open_sandbox
from steward.core import MovableClock, Settings, SystemClock
from steward.core.settings import SandboxSettings
from steward.testing import Installation, NatsServer
from tests.runs.test_workers import serving, until

KEY = "key-0123456789"


@pytest.fixture(scope="module")
def nats_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with NatsServer(tmp_path_factory.mktemp("nats")) as server:
        yield server


@contextmanager
def _s3() -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from moto.server import ThreadedMotoServer

        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def test_one_machine_needs_none_of_them(tmp_path: Path) -> None:
    alone = Settings(home=tmp_path / "home")
    assert [check(alone).state for check in (check_bus, check_blobs, check_workers)] == ["ok"] * 3
    assert not (tmp_path / "home").exists()


def _over_nats(home: Path, url: str) -> Settings:
    # The bus is looked at by itself: nothing is read from this database.
    database = {"url": "postgresql://nowhere.invalid/steward"}
    return Settings.model_validate({"home": home, "database": database, "runs": {"nats_url": url}})


def test_the_bus_is_proven_by_a_message(tmp_path: Path, nats_server: NatsServer) -> None:
    found = check_bus(_over_nats(tmp_path, nats_server.url))
    assert found.state == "ok"
    assert "a message came back" in found.message

    away = check_bus(_over_nats(tmp_path, "nats://127.0.0.1:1"))
    assert away.state == "failed"
    assert "STEWARD_RUNS__NATS_URL" in away.remedy


def _on_s3(home: Path, endpoint: str, bucket: str, *, create: bool) -> Settings:
    blobs = {
        "url": f"s3://{bucket}/some/prefix",
        "endpoint": endpoint,
        "access_key_id": KEY,
        "secret_access_key": KEY,
        "create_bucket": create,
    }
    return Settings.model_validate({"home": home, "blobs": blobs})


def test_the_blob_store_is_proven_by_an_object_that_goes_again(tmp_path: Path) -> None:
    from steward.store.s3 import S3Blobs

    bucket = f"bucket-{uuid4().hex[:12]}"
    with _s3() as endpoint:
        missing = check_blobs(_on_s3(tmp_path, endpoint, bucket, create=False))
        assert missing.state == "failed"
        for _ in range(2):
            # The second time the bucket is there already.
            settings = _on_s3(tmp_path, endpoint, bucket, create=True)
            found = check_blobs(settings)
            assert found.state == "ok", found
        assert list(S3Blobs(settings.blobs, tmp_path).digests()) == []
        assert KEY not in found.message
    assert check_blobs(settings).state == "failed"


def test_code_may_read_data_that_is_kept_in_s3(tmp_path: Path) -> None:
    """There is no folder of blobs then; the sandbox starts all the same."""
    settings = _on_s3(tmp_path, "http://127.0.0.1:1", "bucket", create=False)
    (tmp_path / "work").mkdir()
    sandbox = open_sandbox(settings.model_copy(update={"sandbox": SandboxSettings(minimum="none")}))
    try:
        walls = asyncio.run(sandbox.walls())
    finally:
        sandbox.shut()
    assert "blobs" not in "; ".join(walls.reasons)
    assert walls.stood or walls.tier == "none"
    assert not (tmp_path / "blobs").exists()


async def _tick(clock: MovableClock) -> None:
    """A clock that stands would give the same answer twice."""
    while True:
        clock.advance(seconds=0.001)
        await asyncio.sleep(0.01)


@pytest.mark.every_database
def test_workers_are_seen_while_they_serve(installation: Installation) -> None:
    steward = installation.steward
    if steward.database.is_sqlite:
        pytest.skip("one process on SQLite")
    worker = steward.runs.worker(queues=["cpu"], concurrency=3)
    settings = steward.settings.model_copy(
        update={
            "runs": steward.settings.runs.model_copy(
                update={"in_server": False, "lease": timedelta(seconds=60)}
            )
        }
    )

    def finding() -> Finding:
        return check_workers(settings)

    # The installation's clock stands, 40 seconds behind that of the doctor.
    behind = SystemClock().now() - timedelta(seconds=40) - installation.clock.now()
    installation.clock.advance(seconds=behind.total_seconds())

    assert finding().state == "failed"

    async def work() -> None:
        async with serving(worker):
            await until(lambda: bool(steward.runs.presence.seen()))
            (seen,) = steward.runs.presence.seen()
            assert (seen.holder, seen.queues, seen.concurrency) == (worker.holder, ("cpu",), 3)
            ticking = asyncio.create_task(_tick(installation.clock))
            found = await asyncio.to_thread(finding)
            assert found.state == "warning", found
            assert "clocks differ from this machine's" in found.message
            installation.clock.advance(seconds=40)
            found = await asyncio.to_thread(finding)
            assert found.state == "ok", found
            assert "all answered within" in found.message
            ticking.cancel()

    asyncio.run(work())
    assert steward.runs.presence.seen() == []
    steward.runs.presence.sign("gone/1/x", ["cpu"], 3, "1.0")
    silent = finding()
    assert silent.state == "failed"
    assert "1 of 1 did not answer within 5 seconds (gone)" in silent.message


def test_a_silent_worker_is_no_longer_seen(installation: Installation) -> None:
    presence, clock = installation.steward.runs.presence, installation.clock
    presence.sign("one", ["cpu", "llm"], 4, "1.0")
    clock.advance(seconds=40)
    presence.sign("two", ["llm"], 4, "1.0")
    assert [each.holder for each in presence.seen()] == ["one", "two"]
    clock.advance(seconds=10)
    assert [each.holder for each in presence.seen()] == ["two"]
    presence.sign("one", ["cpu", "llm"], 4, "1.0")
    assert len(presence.seen()) == 2


def test_keys_that_are_mounted_are_taken_as_they_are(tmp_path: Path) -> None:
    """As a container does it: the key file is there before the first start, and cannot be written."""
    made = tmp_path / "made"
    open_steward(Settings(home=made)).close()
    keys = (made / "keys" / "secrets.json").read_text()
    home = tmp_path / "home"
    (home / "keys").mkdir(parents=True)
    file = home / "keys" / "secrets.json"
    file.write_text(keys)
    before = file.stat()
    open_steward(Settings(home=home)).close()
    after = file.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


@pytest.mark.parametrize(
    "database",
    [
        f"postgresql://joe:{KEY}@127.0.0.1:1/db",
        f"postgresql://joe:{KEY}@127.0.0.1:none/db",
        f"hidden://joe:{KEY}@x",
    ],
)
def test_doctor_shows_no_password_of_anything_that_does_not_answer(
    tmp_path: Path, database: str
) -> None:
    settings = {
        "home": tmp_path,
        "database": {"url": database},
        "runs": {"nats_url": f"nats://joe:{KEY}@127.0.0.1:1"},
        "blobs": {
            "url": "s3://bucket/x",
            "endpoint": "http://127.0.0.1:1",
            "access_key_id": KEY,
            "secret_access_key": KEY,
        },
        "models": {
            "default": {
                "provider": "compatible",
                "name": "m",
                "base_url": f"http://joe:{KEY}@127.0.0.1:1/v1",
                "api_key": KEY,
            }
        },
    }
    found = diagnose(Settings.model_validate(settings))
    failed = {each.subject for each in found if each.state != "ok"}
    assert failed >= {"database", "bus", "blob store", "model"}
    assert KEY not in repr(found)
