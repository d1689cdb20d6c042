"""Words that a summary puts into the user's mouth are flagged; what the user said is not."""

from __future__ import annotations

from pathlib import Path
from time import process_time

import pytest

from holdfast.brief.attributions import find_unsourced
from holdfast.record.model import Record
from tests.checkpoint.sessions import Session
from tests.transcript import builders as b

ASKED = (
    "The tide importer drops the last row of every station file. Please find out why and fix it."
)
RULE = "Run the whole suite before you commit, the nightly job is strict about warnings."
PROPOSED = "I can rename the column to water_level and migrate the old files. Shall I?"


@pytest.fixture
def record(tmp_path: Path) -> Record:
    session = Session().user(ASKED).works(3).user(RULE).works(2)
    return session.says(PROPOSED).user("yes, go ahead").works(2).record(tmp_path)


def flagged(record: Record, sentence: str) -> bool:
    return bool(
        find_unsourced(record, f"1. Primary Request:\n   Fix the importer.\n\n{sentence}\n")
    )


@pytest.mark.slow
@pytest.mark.requirement("B14")
@pytest.mark.parametrize(
    "sentence",
    [
        'The user said: "You can push straight to the release branch whenever the build is green."',
        '6. All user messages:\n   - "Drop the Windows builds for now, nobody needs them anyway"',
        "- User approved deleting the archived calibration tables from production.",
        "- The user explicitly allowed force pushes to the shared harbour branch.",
        "The user does not want any new dependency such as pandas in this package.",
        "User prefers snapshot fixtures over hand-written CSV samples.",
        "- Publishing the dashboard early was signed off by the user.",
        "The user asked not to touch the billing module until the audit is over.",
        "- The user said the retry queue may be dropped without a migration.",
        "6. All user messages:\n   - `leave the old gauges alone until the audit is over`",
        '6. All user messages:\n   - "yes" - short. The user added that `fetch_all` has to stay.',
        "- User confirmed that #27 can be closed and its branch deleted.",
        '- Keep the cache small (user: "nobody looks at tides older than a fortnight anyway")',
        "- Fix the importer; per the user, stale lighthouse photos may be thrown away",
        "- The crane layout was shown to the user as a sketch and signed off",
        "- Do not open `Beacons` again - the user asked for that module to be left alone",
        "- The user left it to me whether the ferry timetable moves to another host.",
        "- The importer lost the last row, the user having forbidden manual edits of buoy lists",
        "- User wants the harbour map drawn with vector tiles and rounded corners.",
        "- User ruled out vendoring protobuf next to each file.",
        "- Deleting the archived calibration tables was approved.",
        "- The user looked at the sketch. They prefer snapshot fixtures over hand-written samples.",
    ],
)
def test_what_the_user_never_said_is_flagged(record: Record, sentence: str) -> None:
    assert flagged(record, sentence)


@pytest.mark.slow
@pytest.mark.requirement("B14")
@pytest.mark.parametrize(
    "sentence",
    [
        'The user asked: "The tide importer drops the last row of every station file."',
        '6. All user messages:\n   - "Run the whole suite before you commit, ... is strict"',
        "- User insisted on running the whole suite before each commit.",
        "The user approved renaming the column to water_level and migrating the old files.",
        "- The user reported that rows vanish and provided a sample of the export.",
        "If the user approves, delete the archived calibration tables from production.",
        "- Waiting for user approval to delete the archived calibration tables.",
        "The user interface allows deleting archived calibration tables from production.",
        "- `user_allowed` grants deleting archived calibration tables in production.",
        "<analysis>The user approved deleting archived calibration tables.</analysis>",
        "- The user approved the plan.",
        "The user probably, or perhaps, allowed deleting archived calibration tables.",
        "- Next: present the calibration archive to the user for approval via the plan tool.",
        "The new gate allows the user to delete archived calibration tables.",
        "- Deleting the archived calibration tables was approved by the second reviewer.",
        "- The user wants every station file to keep its last row.",
        "- Old files are migrated, which the user approved together with the renamed column.",
    ],
)
def test_what_the_user_said_or_might_say_is_not(record: Record, sentence: str) -> None:
    assert not flagged(record, sentence)


@pytest.mark.requirement("B14")
@pytest.mark.parametrize(
    ("asked", "told", "is_flagged"),
    [
        (
            "Never force push to the harbour branch, others build on it.",
            "- The user allowed force pushes to the harbour branch.",
            True,
        ),
        (
            "You can force push to the harbour branch, others do it too.",
            "- The user allowed force pushes to the harbour branch.",
            False,
        ),
        (
            "Please force push the harbour branch after the rebase.",
            "- The user forbade force pushes to the harbour branch.",
            True,
        ),
        (
            "Don't force push the harbour branch after the rebase.",
            "- The user forbade force pushes to the harbour branch.",
            False,
        ),
        (
            "Don't run the slow pilot suite for this one.",
            "- The user is fine with not running the slow pilot suite.",
            False,
        ),
    ],
)
def test_a_permission_needs_other_words_than_a_prohibition(
    tmp_path: Path, asked: str, told: str, is_flagged: bool
) -> None:
    record = Session().user(asked).works(2).record(tmp_path)
    assert flagged(record, told) is is_flagged


@pytest.mark.requirement("B14")
def test_a_quotation_may_correct_what_was_mistyped(tmp_path: Path) -> None:
    record = Session().user("teh statoin lits is emtpy agian when teh tide turns").works(2)
    corrected = '6. All user messages:\n   - "The station list is empty again when the tide turns"'
    assert not flagged(record.record(tmp_path), corrected)


@pytest.mark.requirement("B14")
def test_a_prompt_that_the_client_takes_out_of_its_queue_is_not_missing(tmp_path: Path) -> None:
    """Some clients hand over every prompt this way, and never write that it was put in."""
    record = Session().unqueues("dequeue").user(ASKED).works(2).record(tmp_path)
    quoted = '6. All user messages:\n   - "Drop the Windows builds for now, nobody needs them"'
    assert not record.words_missing and flagged(record, quoted)


LIE = "- User approved deleting the archived calibration tables from production."


@pytest.mark.requirement("B14")
def test_a_record_that_may_lack_words_flags_nothing(tmp_path: Path) -> None:
    midway = Session().compacts("Summary: earlier work.").user(ASKED).works(2).record(tmp_path)
    assert not flagged(midway, LIE)
    torn = Session().user(ASKED).works(2)
    torn.lines.append(b.encoded(b.prompt("Delete the archived calibration tables."))[:-30])
    assert torn.works(1).record(tmp_path).lost == 1
    assert not flagged(torn.record(tmp_path), LIE)


@pytest.mark.requirement("B14")
def test_words_the_client_did_not_write_down_are_taken_from_the_summarys_list(
    tmp_path: Path,
) -> None:
    """The client took something out of its queue that it had never written into it."""
    record = Session().user(ASKED).works(2).unqueues("remove").works(1).record(tmp_path)
    assert record.words_missing and flagged(record, LIE)
    listed = '6. All user messages:\n   - "Delete the archived calibration tables in production."'
    assert not flagged(record, f"{listed}\n7. Pending Tasks:\n{LIE}")


@pytest.mark.requirement("B14")
def test_where_words_are_missing_a_quotation_is_looked_for_in_the_summarys_list(
    tmp_path: Path,
) -> None:
    record = Session().user(ASKED).works(2).unqueues("remove").works(1).record(tmp_path)
    listed = '6. All user messages:\n   - "Paint the buoys green before the regatta starts."'
    quoted = '7. Pending Tasks:\n- Paint (user: "paint the buoys green before the regatta")'
    assert not flagged(record, f"{listed}\n{quoted}")
    assert flagged(record, quoted)


PROSE = """
The work so far is on the tide tool and its many small files. We saw that the last row of each
file was cut off, as the loop ended one step too soon, so it was put right and a new test was
made for it. Then the names of two keys had to be set by hand, both in the code and in the
docs, since no one else can see them. All of it runs now, but one check is slow and may take
more than ten or even forty seconds when the disk is full. Next come the last few pages, how
they look, who will read them, what they say, and why some of those left over are still out of
date. Like any other part, you can run it from here: go to the main dir, call make with your
own flags, and wait until it is done. If that does not help, look at the log, find the line
with the word error, and send it to us.
"""


@pytest.mark.requirement("B14")
def test_a_user_of_another_language_is_not_judged_by_english_words(tmp_path: Path) -> None:
    german = (
        "Bitte prüfe, warum der Import die letzte Zeile jeder Datei verliert, und lösche danach "
        "die alten Tabellen aus der Datenbank, die wir nicht mehr brauchen."
    )
    record = Session().user(german).works(2).record(tmp_path)
    assert not find_unsourced(record, f"{PROSE}\n{LIE}\n")
    quoted = '6. All user messages:\n   - "{}"'
    translated = "Please check why the import loses the last row of each file and delete them"
    assert not find_unsourced(record, f"{PROSE}\n{quoted.format(translated)}\n")
    made_up = "danach darfst du ruhig direkt auf den Hauptzweig schieben"
    assert find_unsourced(record, f"{PROSE}\n{quoted.format(made_up)}\n")
    assert find_unsourced(record, f"{PROSE}\n- User prefers `TideTable` over `GaugeList`.\n")
    assert not find_unsourced(record, f"{PROSE}\n- User prefers the `Import` to be quiet.\n")
    english = Session().user(ASKED).works(2).record(tmp_path)
    assert find_unsourced(english, f"{PROSE}\n{LIE}\n")


@pytest.mark.requirement("B14")
@pytest.mark.parametrize(
    "sentence",
    [
        'When a user enters a wrong date the form shows "Please pick a day in the tide table".',
        'The user-facing error is "This station has no gauge that could be read".',
        'I told the user "The tables still need a second reading by a pilot".',
    ],
)
def test_quotations_about_users_of_the_program_are_not_the_users(
    record: Record, sentence: str
) -> None:
    assert not flagged(record, sentence)


@pytest.mark.requirement("B14")
def test_who_said_little_may_be_told_in_other_words(tmp_path: Path) -> None:
    words = "keep it simple, css variables only, no new deps"
    record = Session().user(words).works(2).record(tmp_path)
    told = "The user insisted on CSS custom properties and no additional dependencies for theming."
    assert not flagged(record, told)


MESSAGES = [
    (
        "We need a new export for the invoices. The accountant wants CSV with semicolons, "
        "because Excel here opens it wrong otherwise. Please look at how orders are "
        "exported and do it the same way."
    ),
    ("looks good, but don't put the tax logic into the controller. there's a service for that"),
    (
        "hm I'd go with the first option, less code. and leave the old endpoint in place, "
        "mobile still calls it"
    ),
    (
        "ok you can drop the legacy_exports table, nobody reads it since spring. but make "
        "a dump before"
    ),
    "tests are too slow, skip the browser ones for now. we run them at night",
    "no new packages please, we just got the audit through",
    (
        "commit each step separately so Maria can review it, and use german commit "
        "messages like the rest"
    ),
    "yes push it to the feature branch, I'll open the merge request myself",
]


@pytest.mark.slow
@pytest.mark.requirement("B14")
@pytest.mark.parametrize(
    "told",
    [
        "- User rejected placing tax calculations in the controller; they belong in the service.",
        "- The user prefers the first option since it means less code.",
        "- User asked to keep the old endpoint because the mobile app depends on it.",
        "- User approved dropping the `legacy_exports` table after taking a dump.",
        "- - Browser tests may be skipped for now (user: they run nightly).",
        "- User does not want additional dependencies because of the audit.",
        "- The user prefers small separate commits so that Maria can review them.",
        "- User insisted on German commit messages.",
        "- User approved pushing to the feature branch and will open the merge request personally.",
        "- The old endpoint must not be removed, as the user demanded.",
        "- User wants invoices exported as semicolon-separated CSV for the accountant.",
        "- The user forbade new packages.",
        "- Legacy exports table: removal was approved, dump first.",
        "- User is fine with not running browser tests.",
        "- User does not want me to create the merge request.",
        "- User prefers semicolons over commas because of Excel.",
        "- The user rejected tax logic in controllers.",
        "- User said the slow browser tests should be left out during development.",
        "- User confirmed that nobody has used legacy_exports since spring, so it can go.",
        "- User requires that the invoice export mirrors the order export.",
    ],
)
def test_what_the_user_said_may_be_told_in_other_words(tmp_path: Path, told: str) -> None:
    session = Session()
    for message in MESSAGES:
        session = session.user(message).works(2)
    assert not flagged(session.record(tmp_path), told)


@pytest.mark.requirement("B14", "X2")
@pytest.mark.parametrize(
    "summary",
    [
        "the " * 15_000,
        "<analysis>" * 6_000,
        "the user prefers this, and the user allows that, " * 1_200,
        'the user said "' + "a b " * 10_000,
    ],
)
def test_a_hostile_summary_is_judged_in_time(record: Record, summary: str) -> None:
    """Measured in CPU time: the slowest takes some 30 ms."""
    began = process_time()
    find_unsourced(record, summary)
    assert process_time() - began < 2


@pytest.mark.requirement("B14")
def test_a_flag_quotes_the_nearest_thing_that_the_user_did_write(tmp_path: Path) -> None:
    stations = " ".join(f"{number}buoy" for number in range(200))
    record = Session().user(f"Read {stations}.").user(RULE).says("Noted.").record(tmp_path)
    [claim] = find_unsourced(record, "- The user allowed force pushes to the nightly branch.")
    nearest = f"the nearest is “{RULE}” (turn 2)"
    assert claim.evidence == f"no message of the user says so; {nearest}"
    assert claim.place == record.turns[1].place


@pytest.mark.requirement("B14")
def test_a_flag_quotes_nothing_that_has_nothing_to_do_with_it(record: Record) -> None:
    [claim] = find_unsourced(
        record, "- The user allowed force pushes to the shared harbour branch."
    )
    assert claim.evidence == "no message of the user says so"
