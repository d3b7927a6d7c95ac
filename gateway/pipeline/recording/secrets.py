"""What looks like a secret in a text.

A search for all shapes at once would hold the interpreter for a tenth of a second in a long text, and every stream with it. So
plain words are looked for, which is fast, and a pattern is tried only where one stands.
"""

import re
from collections.abc import Iterator

SHAPES = {
    beginning: re.compile(rf"(?<!\w){re.escape(beginning)}{rest}", re.DOTALL)
    for beginning, rest in {
        "tw-": r"[\w-]{20,}",
        "sk-": r"[\w-]{16,}",
        **dict.fromkeys(("ghp_", "gho_", "ghs_", "ghu_", "github_pat_", "glpat-", "hf_"), r"[\w-]{16,}"),
        "xox": r"[abprs]-[\w-]{10,}",
        "AKIA": r"[0-9A-Z]{16}(?!\w)",
        "eyJ": r"[\w-]{8,}\.[\w-]{8,}\.[\w-]*",
        "-----BEGIN ": r"[A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    }.items()
}
"""Keys of this gateway and of others' services, tokens and private keys, by how they begin."""
NAMES = (
    "authorization",
    *(f"api{joint}key" for joint in ("", "-", "_")),
    *(f"{kind}{joint}token" for kind in ("access", "auth", "bearer") for joint in ("", "-", "_")),
    *(f"client{joint}secret" for joint in ("", "-", "_")),
    "password",
)
"""Names of values that are secrets, in small letters."""
NAMED = re.compile(r"""\\?["']?\s*[:=>]+\s*\\?["']?(?:(?:bearer|basic)\s+)?(?P<value>[^\s"'\\,;(){}<>\[\]]{6,})""", re.IGNORECASE)
"""What stands behind such a name."""
BEARER = "bearer"
BORNE = re.compile(r"\s+(?P<value>[\w.~+/=-]{12,})")


def is_secret_name(name: str) -> bool:
    """Whether a value of this name is one."""
    return name.lower().removeprefix("proxy-").removeprefix("x-") in NAMES


def without_secrets(text: str) -> str:
    """The text with stars in the place of each character of a secret."""
    parts: list[str] = []
    done = 0
    for begin, end in sorted(_found(text)):
        if end > done:
            parts += text[done:begin], "*" * (end - max(begin, done))
            done = end
    return "".join((*parts, text[done:])) if parts else text


def _found(text: str) -> Iterator[tuple[int, int]]:
    for beginning, shape in SHAPES.items():
        yield from _matches(text, beginning, shape, behind=False)
    small = text.lower()
    if len(small) != len(text):  # a few letters have a longer small one; places would not be those of the text
        small = "".join(letter.lower() if letter.isascii() else letter for letter in text)
    for name in NAMES:
        yield from ((begin, end) for begin, end in _matches(small, name, NAMED, behind=True))
    yield from _matches(small, BEARER, BORNE, behind=True)


def _matches(text: str, word: str, pattern: re.Pattern[str], *, behind: bool) -> Iterator[tuple[int, int]]:
    """Where the pattern's secret stands, beginning with the word, or `behind` it."""
    place = text.find(word)
    while place >= 0:
        found = pattern.match(text, place + len(word) if behind else place)
        if found is None:
            place += len(word)
        else:
            yield found.span("value" if behind else 0)
            place = found.end()
        place = text.find(word, place)
