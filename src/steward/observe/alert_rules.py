"""Alert rules as documents: which figure, of which flow, over how many hours, and what is too much, too little or unusual."""

from datetime import datetime, time
from typing import Annotated, Final, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

Figure = Literal[
    "runs",
    "failed_runs",
    "error_rate",
    "spend",
    "tokens",
    "mean_duration",
    "approvals_waiting",
    "approval_age",
    "forecast_7",
    "forecast_30",
    "budget_forecast",
    "output_drift",
]
FIGURE_WORDS: Final[dict[Figure, str]] = {
    "runs": "Runs ended",
    "failed_runs": "Failed runs",
    "error_rate": "Error rate",
    "spend": "Spend",
    "tokens": "Tokens",
    "mean_duration": "Mean duration",
    "approvals_waiting": "Approvals waiting",
    "approval_age": "Age of the oldest waiting approval",
    "forecast_7": "Forecast spend for the next 7 days",
    "forecast_30": "Forecast spend for the next 30 days",
    "budget_forecast": "Budget expected to be used when it resets",
    "output_drift": "Drift of outputs",
}
INSTANT: Final = frozenset(
    {
        "approvals_waiting",
        "approval_age",
        "forecast_7",
        "forecast_30",
        "budget_forecast",
        "output_drift",
    }
)
"""Figures of one moment: they have no window, and a later look can undo them at once."""
APPROVALS: Final = frozenset({"approvals_waiting", "approval_age"})
ABOVE_ONLY: Final = APPROVALS | {"budget_forecast"}
MOST_WINDOW: Final = 24 * 30
MOST_UNUSUAL_WINDOW: Final = 24
_MOST_CHANNELS: Final = 5
_MOST: Final = 1e15


def _plain(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must not contain control characters")
    return text


def known_zone(text: str) -> str:
    try:
        ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("is not a time zone; write one such as Europe/Berlin") from None
    return text


Plain = AfterValidator(_plain)


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class Above(_Document):
    """Fires when the figure is larger than the threshold."""

    kind: Literal["above"] = "above"
    threshold: float = Field(ge=0, le=_MOST)


class Below(_Document):
    """Fires when the figure is smaller than the threshold; only whole hours count."""

    kind: Literal["below"] = "below"
    threshold: float = Field(gt=0, le=_MOST)


class Unusual(_Document):
    """Fires when the figure is more than three standard deviations above its mean of the last 28 days."""

    kind: Literal["unusual"] = "unusual"
    floor: float = Field(
        gt=0,
        le=_MOST,
        description="How far above its mean the figure must be at least; for drift of outputs, percent of the mean.",
    )


Condition = Annotated[Above | Below | Unusual, Field(discriminator="kind")]
Connection = Annotated[str, Field(min_length=1, max_length=50), Plain]


class MailChannel(_Document):
    kind: Literal["mail"] = "mail"
    to: list[Annotated[str, Field(min_length=3, max_length=254), Plain]] = Field(
        min_length=1, max_length=20
    )
    connection: Connection | None = Field(
        None, description="A mail connection; unset: the settings of send_email."
    )


class SlackChannel(_Document):
    kind: Literal["slack"] = "slack"
    channel: Annotated[str, Field(min_length=1, max_length=100), Plain] | None = Field(
        None, description="For a bot; a webhook has its own channel."
    )
    connection: Connection | None = Field(
        None, description="A Slack connection; unset: the settings of send_slack."
    )


class WebhookChannel(_Document):
    kind: Literal["webhook"] = "webhook"
    endpoint: Annotated[str, Field(min_length=1, max_length=100), Plain] = Field(
        description="An endpoint of the settings of send_webhook."
    )


Channel = Annotated[MailChannel | SlackChannel | WebhookChannel, Field(discriminator="kind")]


class QuietHours(_Document):
    """A part of every day in which no message is sent; what still holds at its end is sent then."""

    start: time
    end: time
    time_zone: Annotated[str, Field(max_length=80), AfterValidator(known_zone)] = "UTC"

    @model_validator(mode="after")
    def _not_empty(self) -> "QuietHours":
        if self.start == self.end:
            raise ValueError("start and end must differ")
        if self.start.tzinfo is not None or self.end.tzinfo is not None:
            raise ValueError("start and end are times such as 22:00, without a time zone")
        return self

    def holds(self, moment: datetime) -> bool:
        at = moment.astimezone(ZoneInfo(self.time_zone)).time()
        if self.start < self.end:
            return self.start <= at < self.end
        return at >= self.start or at < self.end


class AlertRule(_Document):
    name: Annotated[str, Field(min_length=1, max_length=100), Plain]
    figure: Figure
    flow: Annotated[str, Field(min_length=1, max_length=200), Plain] | None = Field(
        None, description="Of one playbook or program; unset: of the whole project."
    )
    each_flow: bool = Field(
        False, description="Every playbook and program on its own, each with its own alert."
    )
    window_hours: int = Field(
        24, ge=1, le=MOST_WINDOW, description="Hours that count, the one under way included."
    )
    condition: Condition
    enabled: bool = True
    people: list[Annotated[str, Field(pattern=r"^usr_[0-9a-z]{26}$")]] = Field(
        [], max_length=50, description="Who is notified in Steward, besides the author."
    )
    channels: list[Channel] = Field([], max_length=_MOST_CHANNELS)
    quiet_hours: QuietHours | None = None

    @model_validator(mode="after")
    def _fits(self) -> "AlertRule":
        if self.flow is not None and self.each_flow:
            raise ValueError("choose one flow or each flow, not both")
        if self.figure == "output_drift":
            if not isinstance(self.condition, Unusual):
                raise ValueError("outputs drift when they are unusual: there is no threshold")
            if self.flow is None and not self.each_flow:
                raise ValueError("choose one flow or each flow: their outputs are compared")
        elif isinstance(self.condition, Unusual):
            if self.figure in INSTANT:
                raise ValueError(
                    f"{FIGURE_WORDS[self.figure]} can pass a threshold; what is unusual is not known"
                )
            if self.window_hours > MOST_UNUSUAL_WINDOW:
                raise ValueError(
                    f"an unusual figure needs a window of at most {MOST_UNUSUAL_WINDOW} hours"
                )
        if self.figure in ABOVE_ONLY and not isinstance(self.condition, Above):
            raise ValueError(f"{FIGURE_WORDS[self.figure]} can only be above a threshold")
        if self.figure == "error_rate" and getattr(self.condition, "threshold", 0) > 100:
            raise ValueError("an error rate is a percentage from 0 to 100")
        return self

    @property
    def is_instant(self) -> bool:
        return self.figure in INSTANT

    def watches_the_same(self, other: "AlertRule") -> bool:
        """Whether open alerts of the one are alerts of the other too."""
        return (self.figure, self.flow, self.each_flow, self.window_hours, self.condition) == (
            other.figure,
            other.flow,
            other.each_flow,
            other.window_hours,
            other.condition,
        )


def amount(figure: Figure, value: float) -> str:
    """A value of a figure with its unit."""
    match figure:
        case "spend" | "forecast_7" | "forecast_30":
            return f"${value:,.2f}" if value >= 1 or value == 0 else f"${value:.4f}"
        case "error_rate" | "budget_forecast":
            return f"{value:.1f} %"
        case "mean_duration":
            return f"{value:,.1f} seconds"
        case "approval_age":
            return f"{value:,.1f} hours"
        case _:
            return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def sentence(rule: AlertRule) -> str:
    """What a rule looks for, in words."""
    if rule.figure == "output_drift" and isinstance(rule.condition, Unusual):
        return f"Output unlike those of earlier runs, by at least {rule.condition.floor:g} %"
    over = "" if rule.is_instant else f" in {_hours(rule.window_hours)}"
    match rule.condition:
        case Above(threshold=threshold):
            how = f"above {amount(rule.figure, threshold)}"
        case Below(threshold=threshold):
            how = f"below {amount(rule.figure, threshold)}"
        case Unusual(floor=floor):
            how = f"unusually high, at least {amount(rule.figure, floor)} above the mean"
    return f"{FIGURE_WORDS[rule.figure]}{over} {how}"


def _hours(count: int) -> str:
    if count == 1:
        return "1 hour"
    return f"{count // 24} days" if count % 24 == 0 and count > 24 else f"{count} hours"
