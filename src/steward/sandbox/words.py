"""Long lists of names, written as text so that they can be read."""


def words(text: str) -> tuple[str, ...]:
    return tuple(text.split())
