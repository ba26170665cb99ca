"""A person starts it; every playbook can be, so this says only with what."""

from typing import ClassVar, Literal

from steward.playbooks.trigger import TRIGGERS, Name, Trigger


@TRIGGERS.register("manual")
class ManualTrigger(Trigger):
    title: ClassVar = "By hand"

    type: Literal["manual"]
    name: Name = "manual"
