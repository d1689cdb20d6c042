"""SHA-256 of small data. hashlib is the last resort: it loads OpenSSL, which takes 3 ms."""

try:
    from _sha2 import sha256  # type: ignore[import-not-found]
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found]  # Python 3.11
    except ImportError:
        from hashlib import sha256

__all__ = ["digest", "sha256"]


def digest(data: bytes) -> str:
    return str(sha256(data).hexdigest())
