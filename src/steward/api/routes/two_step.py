"""Two-step sign-in of the signed-in person: set up, confirm, new recovery codes, off."""

from datetime import datetime

from fastapi import Request, status
from pydantic import Field

from steward.api.context import address_of, steward_of
from steward.api.documents import Input, Output
from steward.api.guards import AsPerson, AsSettingUp
from steward.api.routing import Router
from steward.identity import Enrolment

router = Router(tags=["session"], prefix="/me/two-step")


class TwoStepOut(Output):
    since: datetime | None = Field(description="When it was turned on; null: a password is enough.")
    recovery_codes_left: int


class EnrolmentOut(Output):
    secret: str = Field(description="To type into an app; shown once.")
    address: str = Field(description="`otpauth://…`, for a QR code.")


class PasswordIn(Input):
    password: str = Field(max_length=1000, description="The current password.")


class Code(Input):
    code: str = Field(min_length=1, max_length=40, description="From the app, or a recovery code.")


class RecoveryCodesOut(Output):
    recovery_codes: list[str] = Field(description="Each works once; shown once.")


@router.get("")
def read_two_step(request: Request, principal: AsSettingUp) -> TwoStepOut:
    found = steward_of(request).identity.two_step.state(principal.user_id)
    return TwoStepOut.model_validate(found)


@router.post("", status_code=status.HTTP_201_CREATED)
def begin_two_step(request: Request, principal: AsSettingUp, body: PasswordIn) -> EnrolmentOut:
    """A key for an app; two-step sign-in is on once a code of it is confirmed."""
    two_step = steward_of(request).identity.two_step
    made: Enrolment = two_step.begin(
        principal.user_id,
        body.password,
        address=address_of(request),
        session_id=principal.session_id,
    )
    return EnrolmentOut.model_validate(made)


@router.post("/confirm")
def confirm_two_step(request: Request, principal: AsSettingUp, body: Code) -> RecoveryCodesOut:
    """Turns it on with the first code of the app; signs out the browsers where a password was enough."""
    codes = steward_of(request).identity.two_step.confirm(
        principal.user_id,
        body.code,
        address=address_of(request),
        keep_session=principal.session_id,
    )
    return RecoveryCodesOut(recovery_codes=codes)


@router.post("/recovery-codes")
def renew_recovery_codes(request: Request, principal: AsPerson, body: Code) -> RecoveryCodesOut:
    """New recovery codes; the old ones no longer work."""
    two_step = steward_of(request).identity.two_step
    codes = two_step.renew_recovery_codes(principal.user_id, body.code, address=address_of(request))
    return RecoveryCodesOut(recovery_codes=codes)


@router.post("/off", status_code=status.HTTP_204_NO_CONTENT)
def turn_two_step_off(request: Request, principal: AsPerson, body: Code) -> None:
    two_step = steward_of(request).identity.two_step
    two_step.turn_off(principal.user_id, body.code, address=address_of(request))
