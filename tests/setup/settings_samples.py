"""Settings files as people have them: every layout, other people's hooks, odd but legal JSON."""

import json

import pytest

RICH = {
    "$schema": "https://json.schemastore.org/claude-code-settings.json",
    "permissions": {
        "allow": ["Bash(npm run test:*)", "Read(~/.zshrc)", "WebFetch(domain:docs.rs)"],
        "deny": ["Read(./.env)", "Bash(curl:*)"],
        "additionalDirectories": ["../docs/"],
        "defaultMode": "acceptEdits",
    },
    "env": {"NODE_ENV": "development", "MAX_THINKING_TOKENS": "31999"},
    "model": "opus",
    "cleanupPeriodDays": 20,
    "includeCoAuthoredBy": False,
}
HOOKED = {
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "~/bin/check-bash.sh"}]}
        ],
        "PostToolUse": [
            {
                "matcher": "Edit|Write",
                "hooks": [
                    {"type": "command", "command": "prettier --write $FILE", "timeout": 30},
                    {"type": "command", "command": "ruff check src/holdfast/hook/__main__.py"},
                ],
            }
        ],
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
        "SessionStart": [],
    },
    "statusLine": {"type": "command", "command": "~/.claude/line.sh --short", "padding": 2},
}
PLUGGED = {
    "enabledPlugins": {"formatter@acme": True, "lsp@acme": False},
    "extraKnownMarketplaces": {"acme": {"source": {"source": "github", "repo": "acme/plugins"}}},
    "statusLine": {"type": "command", "command": "npx -y ccstatusline", "refreshInterval": 5},
}


def _text(value: object, indent: int | str | None = 2) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False)


SAMPLES: dict[str, bytes] = {
    "rich, two blanks": (_text(RICH) + "\n").encode(),
    "rich, four blanks, no last newline": _text(RICH, 4).encode(),
    "rich, tabs": (_text({**RICH, **HOOKED}, "\t") + "\n").encode(),
    "rich, CRLF": (_text({**RICH, **HOOKED}) + "\n").replace("\n", "\r\n").encode(),
    "rich, BOM": b"\xef\xbb\xbf" + (_text(RICH) + "\n").encode(),
    "hooked": (_text(HOOKED) + "\n").encode(),
    "hooked, on one line": json.dumps(HOOKED).encode(),
    "hooked, minified": json.dumps(HOOKED, separators=(",", ":")).encode(),
    "plugged, as the client writes it": _text(PLUGGED).encode(),
    "empty object": b"{}",
    "empty object, spaced": b"{ }\n",
    "empty object on two lines": b"{\n}\n",
    "empty hooks": b'{"hooks": {}}\n',
    "empty hooks on lines": b'{\n    "model": "opus",\n    "hooks": {\n    }\n}\n',
    "empty events": b'{\n  "hooks": {\n    "Stop": [ ],\n    "PreCompact": [\n    ]\n  }\n}',
    "empty file": b"",
    "blank file": b" \n\n",
    "only a BOM": b"\xef\xbb\xbf",
    "unicode and escapes": (
        '{\n  "env": {"GREETING": "Grüß Gott 🌊 \\u00e9\\ud83c\\udf0a \\/ \\"", "\\u0061": "b"},\n'
        '  "language": "日本語"\n}\n'
    ).encode(),
    "escaped keys": b'{"\\u0068ooks": {"St\\u006fp": []}, "status\\u004cine": null}',
    "no indent": b'{\n"model": "opus",\n"env": {\n"A": "1"\n}\n}\n',
    "odd layout": b'{ "a" :1 ,\n\n\n      "b":[ 1,2 , {"c" : null}\n ]   ,"d"\n:\n"e" }\n\n',
    "first member beside the brace": b'{"a": 1,\n "b": 2}\n',
    "status line of an unknown kind": b'{"statusLine": {"type": "static", "text": "hi"}, "z": 1}',
    "status line that is a string": b'{\n  "statusLine": "off"\n}\n',
    "same key twice": b'{"model": "opus", "env": {}, "model": "sonnet"}',
    "deep": ('{"x": ' + '{"y": [' * 60 + "1" + "]}" * 60 + "}").encode(),
    "long number": b'{"n": ' + b"9" * 6000 + b', "e": -1.5E+300, "z": -0}',
    "old Holdfast-like words": b'{"env": {"X": "python -I -S /x/holdfast/hook/__main__.py"}}',
    "CR among the blanks": b'{\r "a": 1,\r "b": 2\r}\r',
}
# Byte-identity is asked of every sample at once, by `test_install`; what is weaker, or asks the
# same by another way in, asks it of these in the inner loop.
TELLING = ("rich, CRLF", "hooked", "hooked, minified", "empty file", "escaped keys", "odd layout")
telling_first = pytest.mark.parametrize(
    "data",
    [
        pytest.param(data, id=name, marks=() if name in TELLING else pytest.mark.slow)
        for name, data in SAMPLES.items()
    ],
)
