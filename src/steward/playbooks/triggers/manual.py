"""A person starts it; every playbook can be, so this says only with what."""

from typing import ClassVar, Literal

from steward.playbooks.trigger import TRIGGERS, Name, Trigger


@TRIGGERS.register("manual")
class ManualTrigger(Trigger):
    title: ClassVar = "By hand"
    trusted: ClassVar = True
    is_subscribed: ClassVar = False

    type: Literal["manual"]
    name: Name = "manual"
