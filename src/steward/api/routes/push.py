"""Devices of the signed-in person that are told what waits for them."""

from datetime import datetime

from fastapi import Request, status
from pydantic import Field

from steward.api.context import steward_of
from steward.api.documents import Input, Name, Output
from steward.api.guards import AsPerson
from steward.api.routing import Router
from steward.api.types import PushDeviceId

router = Router(prefix="/me/push", tags=["session"])


class PushDeviceOut(Output):
    id: str
    name: str
    created_at: datetime
    current: bool = Field(description="Whether it is the browser that asks.")


class PushOut(Output):
    public_key: str | None = Field(
        description="The `applicationServerKey` for `PushManager.subscribe`; null: switched off in the settings."
    )
    devices: list[PushDeviceOut]


class PushKeys(Input):
    p256dh: str = Field(max_length=200)
    auth: str = Field(max_length=100)


class NewPushDevice(Input):
    """As `PushSubscription.toJSON()` writes it, with a name."""

    name: Name
    endpoint: str = Field(max_length=2000)
    keys: PushKeys


@router.get("")
def list_push_devices(request: Request, principal: AsPerson) -> PushOut:
    steward = steward_of(request)
    push = steward.waiting_notices.push
    found = steward.identity.push_devices.listed(principal.user_id)
    return PushOut(
        public_key=push.public_key if push.is_on else None,
        devices=[
            PushDeviceOut(
                id=each.id,
                name=each.name,
                created_at=each.created_at,
                current=each.session_id == principal.session_id,
            )
            for each in found
        ],
    )


@router.post("", status_code=status.HTTP_201_CREATED)
async def add_push_device(
    request: Request, principal: AsPerson, body: NewPushDevice
) -> PushDeviceOut:
    """Sends the device a first message; one that cannot be reached is not kept."""
    made = await steward_of(request).waiting_notices.add(
        principal, body.name, body.endpoint, body.keys.p256dh, body.keys.auth
    )
    return PushDeviceOut(id=made.id, name=made.name, created_at=made.created_at, current=True)


@router.delete("/{device_id}", status_code=status.HTTP_204_NO_CONTENT)
def remove_push_device(request: Request, principal: AsPerson, device_id: PushDeviceId) -> None:
    steward_of(request).identity.push_devices.remove(principal.user_id, device_id)
