"""Composes the text of tickets, now and then with personal data in it."""

from dataclasses import dataclass

from scripts.samples.corruptions import phone_text
from scripts.samples.customers import Customer, Person
from scripts.samples.dice import Dice
from scripts.samples.identifiers import grouped
from scripts.samples.phrases import (
    CALL_BACK,
    CARD_NUMBER,
    CLOSINGS,
    COPY_TO,
    GREETINGS,
    NEW_IBAN,
    TOPICS,
)

# Numbers that card networks publish for testing: valid check digit, nobody's account.
_TEST_CARDS = ("4111 1111 1111 1111", "5555 5555 5555 4444", "4012 8888 8888 1881")


@dataclass(frozen=True, slots=True)
class Letter:
    """Subject and body; `findings` names what a careful reader finds in the body."""

    subject: str
    body: str
    findings: tuple[str, ...]


def write_letter(
    dice: Dice, customer: Customer, person: Person, channel: str, category: str, invoice_no: str
) -> Letter:
    """A message of the person about the category, in the person's language or English."""
    language = customer.language if customer.language in ("de", "fr") else "en"
    if dice.chance(0.3):
        language = "en"
    topic = TOPICS[language][category]
    slots = {
        "product": customer.product,
        "invoice": invoice_no,
        "code": f"{dice.pick('ESX')}-{dice.between(100, 599)}",
        "city": customer.address.city.name,
    }
    subject, opening = (text.format(**slots) for text in dice.pick(topic.messages))
    sentences = [opening]
    sentences.extend(text.format(**slots) for text in dice.some(topic.details, dice.between(1, 2)))
    findings = _add_personal_data(dice, customer, category, language, sentences)
    if channel in ("chat", "phone"):
        body = _note(channel, sentences)
    else:
        body = _mail(dice, customer, person, language, sentences)
        findings.append("several_lines")
        if dice.chance(0.12):
            body += f"\nTel. {phone_text(dice, customer.phone)}"
            if "phone" not in findings:
                findings.append("phone")
    return Letter(subject, body, tuple(findings))


def _add_personal_data(
    dice: Dice, customer: Customer, category: str, language: str, sentences: list[str]
) -> list[str]:
    """Appends sentences that carry personal data and says which kinds."""
    findings = []
    if dice.chance(0.09):
        sentences.append(CALL_BACK[language].format(phone=phone_text(dice, customer.phone)))
        findings.append("phone")
    if category == "Billing" and dice.chance(0.08):
        sentences.append(NEW_IBAN[language].format(iban=grouped(customer.iban)))
        findings.append("iban")
    if len(customer.people) > 1 and dice.chance(0.05):
        sentences.append(COPY_TO[language].format(email=customer.people[1].email))
        findings.append("email")
    if dice.chance(0.012):
        sentences.append(CARD_NUMBER[language].format(card=dice.pick(_TEST_CARDS)))
        findings.append("card")
    return findings


def _note(channel: str, sentences: list[str]) -> str:
    text = " ".join(sentences)
    text = text[0].upper() + text[1:]
    return f"Phone call, noted by the agent: {text}" if channel == "phone" else text


def _mail(
    dice: Dice, customer: Customer, person: Person, language: str, sentences: list[str]
) -> str:
    first, rest = sentences[0], sentences[1:]
    if language == "en":
        first = first[0].upper() + first[1:]
    lines = [dice.pick(GREETINGS[language]), "", first]
    if dice.chance(0.5):
        lines.extend(rest)
    else:
        lines[-1] = " ".join((first, *rest))
    lines.extend(["", dice.pick(CLOSINGS[language]), f"{person.first} {person.last}"])
    if customer.company is not None and dice.chance(0.6):
        lines.append(customer.company.name)
    return "\n".join(lines)
