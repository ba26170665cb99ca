"""Says in plain words what a policy decided, by which rules, and what to do about it."""

from typing import Final

from steward.broker.policy import BUILT_IN_LEVEL, DEPLOYED_LEVEL, Decision, Ruling
from steward.broker.policy_text import PolicyVerdict

_OPENING: Final = {
    PolicyVerdict.allow: "Allowed.",
    PolicyVerdict.dry_run: "Allowed after a dry run.",
    PolicyVerdict.ask: "Needs an approval.",
    PolicyVerdict.deny: "Denied.",
}


def explain(decision: Decision) -> str:
    """A few sentences for a person; the rules that decided are named."""
    sentences = [_OPENING[decision.verdict]]
    # Steward's own "otherwise" rule always matches; it is worth a word only where nothing else is.
    told = [rule for rule in decision.rules if not _is_silent(rule)] or list(decision.rules)
    sentences += [_sentence(rule) for rule in told]
    if decision.approvers:
        names = " and ".join(f"“{group}”" for group in decision.approvers)
        sentences.append(f"The approver must belong to {names}.")
    if decision.four_eyes:
        sentences.append("Someone other than the person who asked must approve.")
    sentences += [f"Error: {error}." for error in decision.errors]
    return " ".join(sentences)


def _is_silent(rule: Ruling) -> bool:
    return rule.level == BUILT_IN_LEVEL and rule.verdict is PolicyVerdict.allow


def _sentence(rule: Ruling) -> str:
    if rule.level == DEPLOYED_LEVEL:
        what = f"rule “{rule.id}”" if rule.id else "lack of a rule that permits it"
        reason = f" {rule.reason}" if rule.reason else ""
        return (
            f"The policy at the time of the deployment decides, by its {what}.{reason} "
            "Deploy the playbook again to use the policy of today."
        )
    if rule.effect == "default":
        return rule.reason or (
            f"No rule of the {rule.level} policy permits it; add a permit rule there if it should be."
        )
    if rule.effect == "error":
        return f"{rule.reason} Correct that rule: until then nothing is permitted."
    owner = "Steward's own" if rule.level == BUILT_IN_LEVEL else f"the {rule.level}'s"
    verb = "forbids" if rule.effect == "forbid" else "decides"
    reason = f": {rule.reason}" if rule.reason else "."
    sentence = f"{owner} rule “{rule.id}” {verb}{reason}"
    return sentence[0].upper() + sentence[1:]
