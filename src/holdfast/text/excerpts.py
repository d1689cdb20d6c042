"""Parts of a long text. Secrets are replaced before the text is cut.

A cut can leave half a token, or a password without the words that name it, and neither is found
any more. Redacting 1 MB takes some 25 ms, and only texts that are cut are redacted here.
"""

from holdfast.redact import redact

LONGEST_CHARS = 1_000_000  # of a longer text, only so much is read


def head(text: str, chars: int) -> str:
    """The first `chars` characters."""
    return text if len(text) <= chars else redact(text[:LONGEST_CHARS])[:chars]


def head_and_tail(text: str, first: int, last: int, mark: str) -> str:
    """The first and last characters of a text, with `mark` in place of what is between."""
    half = LONGEST_CHARS // 2
    whole = text if len(text) <= LONGEST_CHARS else text[:half] + mark + text[-half:]
    clean = redact(whole)
    return clean[:first] + mark + clean[max(first, len(clean) - last) :]
