"""A person starts it; every playbook can be, so this says only with what."""

from typing import Literal

from steward.playbooks.trigger import TRIGGERS, Name, Trigger


@TRIGGERS.register("manual")
class ManualTrigger(Trigger):
    type: Literal["manual"]
    name: Name = "manual"
