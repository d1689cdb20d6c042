"""Parts of a long text: excerpts, sentences, the words that tell what it is about, its title.

Secrets are replaced before a text is cut. A cut can leave half a token, or a password without the
word that names it, and neither half is recognised any more. Only texts that are cut are redacted
here, and of those only what is kept and a margin: what stands further away cannot be part of the
same secret, and 1 MB that is made to be slow to search took 14 s.
"""

import re
from collections.abc import Iterable, Iterator

from holdfast.redact.find import redact

LONGEST_WORD = 200
ENDS_CHARS = 16_000  # of a long text, half at each end
MARGIN_CHARS = 32_000  # a private key, the longest secret, has up to 24,000
# Where a sentence ends. The patterns are linear: they never backtrack. The one for plain text
# begins with a set, so that it is searched for in a tenth of the time.
_END_PLAIN = re.compile(r"[.!?](?<![.!?][.!?])[.!?]*+[\"')\]*]*+\s+")
_QUOTED = (">", "|", "#", "⎿", "+", "at ", "$ ")
ASKING = ("?", "\uff1f")  # how a question ends


def head(text: str, chars: int) -> str:
    return text if len(text) <= chars else redact(text[: chars + MARGIN_CHARS])[:chars]


def clip(text: str, chars: int) -> str:
    """At most the first `chars` characters, cut between words: a secret is kept whole, and found
    later, or left out. Costs nothing, unlike `head`; only a word longer than 200 is looked into."""
    if len(text) <= chars:
        return text
    end, least = chars, max(0, chars - LONGEST_WORD)
    while end > least and _is_glued(text[end - 1], text[end]):
        end -= 1
    return text[:end] if end > least or not chars else head(text, chars)


def clip_start(text: str, chars: int) -> str:
    """At most the last `chars` characters, from a line's start: there a secret is named."""
    if len(text) <= chars:
        return text
    end = text[-chars:]
    return end.partition("\n")[2] if "\n" in end else _redact_end(text, chars)


def _redact_end(text: str, chars: int) -> str:
    return redact(text[-chars - MARGIN_CHARS :])[-chars:]


def clip_last(text: str, chars: int) -> str:
    """At most the last `chars` characters, cut between words; secrets in it are known."""
    start = max(0, len(text) - chars)
    while 0 < start < len(text) and _is_glued(text[start - 1], text[start]):
        start += 1
    return text[start:]


def _is_glued(sign: str, neighbour: str) -> bool:
    """Both belong to one word of the script that secrets are written in."""
    return "!" <= sign <= "~" and "!" <= neighbour <= "~"


def head_and_tail(text: str, first: int, last: int, mark: str) -> str:
    """The first and last words of a longer text, with `mark` in place of the middle."""
    if len(text) <= first + last:
        return text
    clean = redact(_ends_of(text, first + MARGIN_CHARS, last + MARGIN_CHARS, mark))
    return clip(clean, first) + mark + clip_last(clean, min(last, len(clean) - first))


def ends_of(text: str, chars: int = ENDS_CHARS) -> str:
    """The text, or of a longer one both ends, as they are: to read and search, not to store."""
    return _ends_of(text, chars // 2, chars // 2, "\n")


def _ends_of(text: str, first: int, last: int, mark: str) -> str:
    return text if len(text) <= first + last else text[:first] + mark + text[-last:]


# Typographic quotes on purpose: people paste them. In scripts without blanks a full stop always
# ends a sentence, together with a closing quote. Marks beyond Latin-1 stand in no set: compiling
# such a set takes 0.15 ms, and there were three.
_END = re.compile(
    r"(?<![.!?])[.!?]++(?:[\"')\]*»]++|”++)*+\s+"
    r"|(?:。++|！++|？++)++(?:」++|』++|”++|）++)*+"  # noqa: RUF001
)


def within(phrases: Iterable[str], text: str) -> bool:
    """Whether one of these phrases is in the text. `any` over a generator takes twice as long."""
    for phrase in phrases:  # noqa: SIM110
        if phrase in text:
            return True
    return False


def sentences(text: str) -> list[str]:
    """All sentences of a text, outside code fences and quoted lines."""
    parts: list[str] = []
    in_code = False
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("```"):
            in_code = not in_code
        elif line and not in_code and not line.startswith(_QUOTED):
            parts += split(line.lstrip("-*• \t"))
    return parts


def last_sentences(text: str, most: int) -> str:
    """The last sentences, as many whole ones as fit; at least one."""
    kept = ""
    for sentence in reversed(sentences(text)):
        if kept and len(sentence) + len(kept) >= most:
            break
        kept = f"{sentence} {kept}".strip()
    return kept


def split(line: str) -> list[str]:
    sentences, start = [], 0
    for end in (_END_PLAIN if line.isascii() else _END).finditer(line):
        if line[end.start()] != "." or _ends(line, start, end.start(), end.end()):
            sentences.append(line[start : end.end()].strip())
            start = end.end()
    sentences.append(line[start:].strip())
    return [part for part in sentences if part]


def _ends(line: str, start: int, dot: int, after: int) -> bool:
    """A dot ends the sentence that begins at `start` unless it belongs to an initial, `e.g.` or a
    number, or what follows goes on in small letters."""
    word = line[line.rfind(" ", start, dot) + 1 or start : dot].lstrip("(\"'“")
    if word.isdecimal():
        return dot - start != len(word)  # `1. First` is an item of a list
    is_short = all(len(part) == 1 for part in word.split("."))
    return not (is_short or line[after : after + 1].islower())


_STEM_CHARS = 7  # "archive", "archives" and "archived" name one thing
_LEAST_CHARS = 4  # of a telling word, if it has no digit
_AROUND_WORDS = ".,:;!?()\"'“”`*"
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")


def words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def telling(text: str) -> set[str]:
    """Return the stems of the words that name something."""
    long = (word for word in words(text) if len(word) >= _LEAST_CHARS or not word.isalpha())
    return {word[:_STEM_CHARS] for word in long}


def is_prose(sentence: str) -> bool:
    """Whether at least half of it are plain words: a command, a path or a line of a log is not."""
    parts = sentence.split()
    plain = sum(part.strip(_AROUND_WORDS).replace("'", "").isalpha() for part in parts)
    return 2 * plain >= len(parts)


_TITLE_CHARS = 200
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,200}>")
_MARKS = re.compile(r"^(?:[#>*+\-\s]|\d+[.)]\s)+|\*{2,}|`+|(?<=\])\([^()\s]*\)|[\[\]]")
_LEAD = re.compile(r"^(?:implement (?:the following|this) plan\b|plan:)[\s:.-]*", re.IGNORECASE)


def title_of(prompt: str) -> str:
    """Return the first paragraph that says something; what precedes a plan says nothing."""
    candidates = (_LEAD.sub("", part) for part in _paragraphs(_TAG.sub(" ", prompt[:20_000])))
    title = next((text for text in candidates if any(map(str.isalnum, text))), prompt)
    return clip(" ".join(title.split()), _TITLE_CHARS)


def _paragraphs(text: str) -> Iterator[str]:
    lines: list[str] = []
    for line in text.split("\n"):
        lines.append(_MARKS.sub("", line).strip())
        if not line.strip() or line.startswith("#"):
            yield " ".join(lines)
            lines = []
    yield " ".join(lines)
