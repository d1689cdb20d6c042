"""Forty reports as a model ends a session with them: its tasks (id and title), the ids that are not
done, whether the run has to stop, and the words."""

# ruff: noqa: E501, RUF001 (lines, signs and dashes as models write them)

SHOP = (
    ("fix-the-price", "Fix the price"),
    ("draw-the-chart", "Draw the chart"),
    ("write-the-docs", "Write the docs"),
    ("release-1-2", "Release 1.2"),
)
NUMBERED = (
    ("1", "Read the config"),
    ("2", "Validate it"),
    ("3", "Test the loader"),
    ("4", "Anna approves the schema"),
    ("5", "Migrate the data"),
)
AUTH = (
    ("add-login-form", "Add login form"),
    ("no-cache-headers", "No-cache headers"),
    ("search-and-replace-tokens", "Search and replace tokens"),
    ("security-review", "Security review by Tom"),
)
DE = (
    ("preis-korrigieren", "Preis korrigieren"),
    ("diagramm-zeichnen", "Diagramm zeichnen"),
    ("freigabe-durch-olga", "Freigabe durch Olga"),
)
TWO = (("t1", "Profile the parser"), ("t2", "Make the parser faster"))

Report = tuple[tuple[tuple[str, str], ...], set[str], bool, str]
REPORTS: list[Report] = [
    # all done
    (
        SHOP,
        set(),
        False,
        """All four tasks are done.

- **Fix the price**: rounding now happens once, in `cart.total`.
- **Draw the chart**: `chart.py` draws the bars; no warnings.
- **Write the docs**: README and docs/usage.md.
- **Release 1.2**: version bumped, changelog written.

Checks: 214 tests pass, mypy and ruff are clean.
""",
    ),
    (
        NUMBERED,
        set(),
        False,
        """## Summary

| Task | Status | Notes |
|---|---|---|
| 1 | ✅ Done | `config.py` |
| 2 | ✅ Done | no new dependencies |
| 3 | ✅ Done | 12 tests |
| 4 | ✅ Done | The plan says that Anna approved it |
| 5 | ✅ Done | 3,204 rows |

NOT DONE: none
""",
    ),
    (
        AUTH,
        set(),
        False,
        """Done: add-login-form, no-cache-headers, search-and-replace-tokens, security-review.

Nothing is left undone. Later sessions should know that the tokens live in `auth/tokens.py`.
""",
    ),
    (
        DE,
        set(),
        False,
        """Alle drei Aufgaben sind erledigt.

- Preis korrigieren: die Rundung steht jetzt in `preis.py`
- Diagramm zeichnen: `diagramm.svg` wird beim Bauen erzeugt
- Freigabe durch Olga: laut Plan liegt sie vor

Alle Tests laufen durch. Nicht erledigt: nichts.
""",
    ),
    (
        TWO,
        set(),
        False,
        """I profiled the parser (60 % of the time is in `split_line`) and made it 2.4 times faster.
The validation is not done twice any more: `parse()` checks a line once and passes the result on.
All 88 tests pass; ruff and mypy are clean.
""",
    ),
    (
        SHOP,
        set(),
        False,
        """✅ fix-the-price
✅ draw-the-chart
✅ write-the-docs
✅ release-1-2

❌ NOT DONE: —
""",
    ),
    (
        NUMBERED,
        set(),
        False,
        """**What I did**
1. Read the config: TOML and environment.
2. Validate it: unknown keys are refused.
3. Test the loader: 31 tests.
4. Anna approves the schema: approved according to the plan.
5. Migrate the data: run on the copy, 0 errors.

**Tasks not done:** 0
""",
    ),
    (
        AUTH,
        set(),
        False,
        """Everything in this batch is complete and the checks pass.

What I found out: the old form was waiting for a response that never came; I replaced the call.
The session cookie was not set before, it is now. There are no tasks that are not done.
""",
    ),
    (
        TWO,
        set(),
        False,
        """Both tasks done.

- t1: profile in `profile.txt`
- t2: memoised the lookup; the work stopped because of the lock is gone

NOT DONE: (none)
""",
    ),
    # Read as not done, because only English words for "none" are known: another session looks again.
    (
        DE,
        {"preis-korrigieren", "diagramm-zeichnen", "freigabe-durch-olga"},
        False,
        """Fertig. Preis, Diagramm und Freigabe sind im Repository, `make check` ist grün.

NOT DONE: keine
""",
    ),
    # 15 with some undone
    (
        SHOP,
        {"draw-the-chart"},
        False,
        """I fixed the price and wrote the docs and the release notes; tests pass.

NOT DONE draw-the-chart: matplotlib cannot be installed without a network
""",
    ),
    (
        SHOP,
        {"draw-the-chart", "release-1-2"},
        False,
        """Done: the price and the docs. 190 tests pass, 2 fail.

NOT DONE draw-the-chart: the backend is missing
NOT DONE release-1-2: it needs the chart
""",
    ),
    (
        SHOP,
        {"write-the-docs", "release-1-2"},
        False,
        """## Done
- Fix the price
- Draw the chart

## Not done
- **Write the docs**: sphinx is not installed
- **Release 1.2**: the docs have to be there first
""",
    ),
    (
        NUMBERED,
        {"3", "5"},
        False,
        """| # | Task | Status | Reason |
|---|---|---|---|
| 1 | Read the config | Done | |
| 2 | Validate it | Done | |
| 3 | Test the loader | **NOT DONE** | pytest hangs, probably waiting for a socket |
| 4 | Anna approves the schema | Done | approved in the plan |
| 5 | Migrate the data | **NOT DONE** | no database here |
""",
    ),
    (
        NUMBERED,
        {"3", "4", "5"},
        False,
        """Tasks 1 and 2 are done and tested.

NOT DONE: 3-5 (the loader's tests need Python 3.12, which is not on this machine)
""",
    ),
    (
        AUTH,
        {"no-cache-headers"},
        False,
        """- add-login-form: done
- no-cache-headers: NOT DONE: the framework strips the header, and there is no hook to set it later
- search-and-replace-tokens: done
- security-review: done
""",
    ),
    (
        AUTH,
        {"search-and-replace-tokens", "no-cache-headers"},
        False,
        """Login form and review are in place.

**NOT DONE** `search-and-replace-tokens`: 14 files are read-only
**NOT DONE** `no-cache-headers`: same reason
""",
    ),
    (
        DE,
        {"diagramm-zeichnen"},
        False,
        """Der Preis stimmt wieder, und die Freigabe steht im Plan.

NOT DONE diagramm-zeichnen: es gibt keine Schriften auf dieser Maschine
""",
    ),
    (
        TWO,
        {"t2"},
        False,
        """The profile is in `profile.txt`: the regex takes 71 %.

I tried two ways to make the parser faster, but each broke the round trip test, so I took them back. That means t2 is not done.
""",
    ),
    (
        SHOP,
        {"fix-the-price", "draw-the-chart"},
        False,
        """Docs and release are finished.

NOT DONE: Fix the price and Draw the chart — both need the pricing service, which answers 503
""",
    ),
    (
        NUMBERED,
        {"2"},
        False,
        """1. ✅ Read the config
2. ❌ Validate it - NOT DONE: the schema file is empty
3. ✅ Test the loader
4. ✅ Anna approves the schema
5. ✅ Migrate the data

The tests for the loader pass, those of the validation are skipped.

NOT DONE 2: the schema file is empty
""",
    ),
    (
        SHOP,
        {"release-1-2"},
        False,
        """There were no problems with the price, the chart or the docs. No tests fail. The one thing left: release-1-2 is not done, since the tag exists already and I must not move it.
""",
    ),
    (
        AUTH,
        {"add-login-form"},
        False,
        """### Result

* ✔ No-cache headers
* ✔ Search and replace tokens
* ✔ Security review by Tom
* ✘ Add login form
  NOT DONE: the template engine raises on `{% csrf %}`
""",
    ),
    (
        TWO,
        {"t1", "t2"},
        False,
        """NOT DONE t1: py-spy is not allowed to attach
NOT DONE t2: without a profile I would only guess
""",
    ),
    (
        DE,
        {"preis-korrigieren", "diagramm-zeichnen"},
        False,
        """Zusammenfassung

| Aufgabe | Stand | Grund |
|:--|:--|:--|
| Preis korrigieren | NOT DONE | zwei Tests schlagen fehl |
| Diagramm zeichnen | NOT DONE | braucht den Preis |
| Freigabe durch Olga | erledigt | steht im Plan |
""",
    ),
    # 10 waiting for a person
    (
        NUMBERED,
        {"4", "5"},
        True,
        """Tasks 1 to 3 are done; the schema is in `schema.json` for Anna, with a summary in `APPROVAL.md`.

NOT DONE 4: waiting for Anna's approval of the schema
NOT DONE 5: comes after task 4
""",
    ),
    (
        AUTH,
        {"security-review"},
        True,
        """I did the form, the headers and the tokens. The diff for Tom is in `review.patch`.

NOT DONE security-review: waiting for Tom
""",
    ),
    (
        DE,
        {"freigabe-durch-olga"},
        True,
        """Preis und Diagramm sind fertig und getestet. Für Olga liegt `freigabe.md` bereit.

NOT DONE freigabe-durch-olga: waiting for Olga, die das Diagramm freigeben muss
""",
    ),
    (
        NUMBERED,
        {"4", "5"},
        True,
        """| Task | Status |
|---|---|
| 1 | done |
| 2 | done |
| 3 | done |
| 4 | NOT DONE: waiting for Anna |
| 5 | NOT DONE: not begun, after task 4 |
""",
    ),
    (
        AUTH,
        {"security-review"},
        True,
        """## Done
- Add login form, No-cache headers, Search and replace tokens

## NOT DONE
- security-review: waiting for Tom to look at `review.patch`
""",
    ),
    (
        SHOP,
        {"release-1-2"},
        True,
        """Price, chart and docs are done, no open problems.

**NOT DONE release-1-2:** *waiting for* the product owner's decision on the version number
""",
    ),
    (
        SHOP,
        {"fix-the-price", "draw-the-chart", "write-the-docs", "release-1-2"},
        True,
        """I prepared the two possible roundings in `ROUNDING.md`, with their effect on last month's invoices. I changed nothing else.

NOT DONE fix-the-price: Waiting for a decision by the finance team (half up or half even)
NOT DONE draw-the-chart, write-the-docs, release-1-2: not begun, they come after the price
""",
    ),
    (
        AUTH,
        {"security-review"},
        True,
        """⏳ **Security review by Tom** — NOT DONE: waiting for Tom
✅ everything else: form, headers, tokens
""",
    ),
    (
        DE,
        {"freigabe-durch-olga"},
        True,
        """- Preis korrigieren: erledigt, keine Fehler
- Diagramm zeichnen: erledigt
- Freigabe durch Olga: NOT DONE – waiting for Olga
""",
    ),
    (
        TWO,
        {"t2"},
        True,
        """The profile says that 80 % is spent in the vendored lexer.

NOT DONE t2:
  waiting for the maintainers of the lexer to say whether we may change it
""",
    ),
    # 5 stopped
    (
        TWO,
        {"t2"},
        True,
        """The profile shows nothing above 3 %. The plan says to stop in that case.

NOT DONE t2: stopped because no function takes more than 3 % of the time
""",
    ),
    (
        NUMBERED,
        {"3", "4", "5"},
        True,
        """Config and validation are in. Then 4 of the loader's tests failed, and the plan says to stop if one does.

NOT DONE 3: stopped because 4 of 31 tests fail
NOT DONE 4, 5: after 3
""",
    ),
    (
        SHOP,
        {"write-the-docs", "release-1-2"},
        True,
        """* Fix the price: done
* Draw the chart: done
* Write the docs: **NOT DONE** - stopped because the benchmark got slower by 12 %, and the plan says to stop then
* Release 1.2: **NOT DONE** - not begun
""",
    ),
    (
        AUTH,
        {"add-login-form", "no-cache-headers", "search-and-replace-tokens", "security-review"},
        True,
        """I stopped at the first task: the check that the plan asks for fails.

NOT DONE add-login-form: Stopped because `make smoke` fails on a clean checkout
NOT DONE no-cache-headers: not started
NOT DONE search-and-replace-tokens: not started
NOT DONE security-review: not started
""",
    ),
    (
        DE,
        {"diagramm-zeichnen", "freigabe-durch-olga"},
        True,
        """Preis korrigiert (`preis.py`, 3 Tests).

❌ NOT DONE `diagramm-zeichnen`: stopped because die Daten leer sind (Abbruch laut Plan)
❌ NOT DONE `freigabe-durch-olga`: hängt vom Diagramm ab
""",
    ),
]
