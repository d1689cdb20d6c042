"""Everything the doctor can check without starting Claude Code."""

import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from holdfast.archive.transcripts import DamagedTranscript, damaged_copies
from holdfast.client import agents, claude_folder, sample_payloads
from holdfast.events import session_end
from holdfast.events.background import transcripts_state
from holdfast.files import plugin_environment
from holdfast.hub.ingest import set_aside
from holdfast.settings import load as settings_load
from holdfast.setup import installs as installed
from holdfast.setup import receipts, rehearsal
from holdfast.setup.errors import InstallError, SettingsBroken
from holdfast.setup.installs import Install, OtherHoldfast
from holdfast.setup.receipts import our_packages
from holdfast.setup.rehearsal import FiredHook, RehearsalStep, fire_status_line, missing, rehearse
from holdfast.setup.settings_text import settings_in, status_command_in
from holdfast.setup.targets import SCOPES, settings_file
from holdfast.setup.wiring import SECOND_EVENT, is_ours, is_written_by_us, prints_second_half
from holdfast.text.numbers import listed
from holdfast.transcript import lookup
from holdfast.window import observed_limits
from holdfast.window.state import State, all_windows
from holdfast.wire import log as guard_log
from holdfast.wire import places

RECENT_DAYS = 2
SOURCES_SHOWN = 5
ERRORS_SHOWN = 5
SETTINGS_REMEDIES = {  # by a part of what `settings.load` reports
    "was not read": "correct the file or remove it: none of its settings is used",
    "there is no setting": "remove it or correct its name: `holdfast settings` lists all",
    "a project may not set it": "remove it there: `holdfast settings set` sets it for you",
}
NO_SECOND_HALF = (
    "the second hook of SessionStart is not installed, so half of a long brief is told late or not"
    " at all"
)
OTHER_HOME = "set HOLDFAST_HOME to a folder that you can write"
OTHER_REMEDY = "correct or remove it: `holdfast settings` shows the values that are used"
COPIES_SECONDS = 1.0  # for reading archived transcripts


def examine(project: Path) -> dict[str, Any]:
    """What is installed, what its hooks do, and each problem with its solution."""
    packages, home = our_packages(Path(places.home())), Path(places.user_home())
    installs = list(dict.fromkeys(installed.find_installs(home, project, packages)))
    unusable = installed.unusable_settings(home, project)
    others = installed.find_others(home, project, packages)
    fired = {install: rehearsal.fire_all(list(install.runnable)) for install in installs}
    steps = {install: _rehearse(install, fired[install]) for install in installs}
    claudes = [install for install in installs if install.agent.has_settings]
    line = check_status_line(claudes, project, packages)
    servers, server_troubles, server_notes = rehearsal.look_at_servers(claudes, project, packages)
    settings = settings_load.load(str(project))
    troubles = [
        *_broken_settings(unusable),
        *_install_troubles(installs, unusable),
        *(f"{other.words}; {_way_out(other)}" for other in others),
        *(trouble for install in installs for trouble in _troubles(install, fired[install])),
        *(trouble for install in installs for trouble in _failed_steps(install, steps[install])),
        *line.troubles,
        *server_troubles,
        *installed.settings_against_hooks(project),
        *_home_troubles(),
        *(f"{copy}; {DamagedTranscript.hint}" for copy in damaged_copies(COPIES_SECONDS)),
        *_ingest_troubles(),
        *_plugin_troubles(installs),
        *(words for install in installs for words in _missing_commands(install)),
        *map(_settings_trouble, settings.errors),
        *filter(None, [session_end.check_note(settings, int(time.time() * 1000))]),
    ]
    return {
        "installs": [
            {"scope": one.scope, "path": str(one.path)} for one in installs if one.commands
        ],
        "hooks": [asdict(one) for every in fired.values() for one in every],
        "compaction": [asdict(one) for every in steps.values() for one in every],
        "status_line": asdict(line.fired) if line.fired else None,
        "servers": [asdict(one) for one in servers],
        "settings_slips": list(settings.errors),
        "recent_errors": _recent_errors(),
        "transcript_lines": _tallies(),
        "limits": _limits(),
        "transcripts": transcripts_state(str(project.absolute())),
        "notes": [*line.notes, *server_notes, *_notes_on_other_installs(installs)],
        "troubles": troubles,
    }


def _way_out(other: OtherHoldfast) -> str:
    if other.program.missing:
        return installed.TAKE_OUT
    return "its hooks run beside ours: uninstall it with its own `holdfast`"


def _broken_settings(unusable: dict[Path, InstallError]) -> list[str]:
    """Settings files that cannot be read, each with the reason."""
    return [
        f"{error}; fix the file: Claude Code cannot read it either"
        for error in unusable.values()
        if isinstance(error, SettingsBroken)
    ]


def _install_troubles(installs: list[Install], unusable: dict[Path, InstallError]) -> list[str]:
    if not installs:
        error = unusable.get(claude_folder.folder_below(Path(places.user_home())) / "settings.json")
        if error is None:
            return ["no hook of Holdfast is installed; run `holdfast install`"]
        if isinstance(error, SettingsBroken):
            return ["no hook of Holdfast was found; fix that file, then run `holdfast install`"]
        refused = f"`holdfast install` would refuse, because {error}; {error.hint}"
        return [f"no hook of Holdfast is installed, and {refused}"]
    return [words for agent in agents.AGENTS if (words := _run_twice(agent, installs))]


def _run_twice(agent: agents.CodingAgent, installs: list[Install]) -> str:
    running = [
        str(install.path) for install in installs if install.commands and install.agent is agent
    ]
    if len(running) < 2:
        return ""
    words = f"installed in {len(running)} places, hooks run twice: {', '.join(running)}"
    return f"{words}; run `holdfast uninstall{agent.option}` for one of them"


def _troubles(install: Install, fired: list[FiredHook]) -> list[str]:
    """The problems of an install, each reported once with all its events."""
    fix = _fix(install)
    if not install.commands:
        return [f"the hooks of the plugin were not found (looked from {install.path}); {fix}"]
    events: dict[str, list[str]] = {}
    for one in fired:
        if one.trouble:
            events.setdefault(one.trouble, []).append(one.event)
    problems = [
        f"{', '.join(dict.fromkeys(names))}: {trouble}; {fix}" for trouble, names in events.items()
    ]
    problems += [
        f"{event} in {install.path} was not run: this Holdfast did not write that line; {fix}"
        for event, command in install.commands
        if (event, command) not in install.runnable
    ]
    have = {event for event, _ in install.commands}
    missing = [event for event in sample_payloads.EVENTS if event not in have]
    problems += [f"not installed for {', '.join(missing)}; {fix}"] if missing else []
    if SECOND_EVENT in have and not any(prints_second_half(line) for _, line in install.commands):
        problems.append(f"{NO_SECOND_HALF}; {fix}")
    return problems


def _rehearse(install: Install, fired: list[FiredHook]) -> list[RehearsalStep]:
    """Rehearse a compaction, unless its hooks fail anyway, which is reported already."""
    fails = {one.event for one in fired if not one.ok}
    fails |= {event for event, _ in install.commands} - {one.event for one in fired}
    return [] if fails & {"PreCompact", "SessionStart"} else rehearse(list(install.runnable))


def _failed_steps(install: Install, steps: list[RehearsalStep]) -> list[str]:
    fix = f"`holdfast log` may say why; else {_fix(install)}"
    return [f"{step.name}: {step.words}; {fix}" for step in steps if not step.ok]


def _fix(install: Install) -> str:
    if install.scope != "plugin":
        scope = f" --scope {install.scope}" if install.scope in ("project", "local") else ""
        return f"run `holdfast install{install.agent.option or scope}`"
    return f"install the plugin again, or end it: `{install.agent.plugin_command} holdfast`"


def _notes_on_other_installs(installs: list[Install]) -> Iterator[str]:
    """What another agent asks for, and what does not work with it; and from our receipts, where
    hooks run twice."""
    for agent in agents.AGENTS:
        if agent.lacks and any(install.agent is agent for install in installs):
            yield from filter(None, [agent.after_install])
            yield f"with {agent.title} these do not work: {'; '.join(agent.lacks)}"
    for install in installs:
        if install.scope == "user":
            yield from installed.other_receipts(Path(places.home()), but=install.path)


def _home_troubles() -> list[str]:
    """Problems with our own folder: it must be writable, and readable by the user alone."""
    home = Path(places.home())
    if home.exists() and not home.is_dir():
        return [f"{home} is not a folder; {OTHER_HOME}"]
    # A check does not make it: it would stay where nothing is installed.
    there = next(folder for folder in (home, *home.absolute().parents) if folder.exists())
    try:
        with tempfile.TemporaryDirectory(dir=there):
            pass
    except OSError as error:
        return [f"{home} cannot be written ({there}: {error.strerror}); {OTHER_HOME}"]
    if home.exists() and home.stat().st_mode & 0o077:
        mode = f"mode {home.stat().st_mode & 0o777:o}"
        return [f"{home} is open to others ({mode}); `chmod 700 {home}` fixes that"]
    if linked := places.linked_folder(places.windows()):
        return [f"{linked} is a link, so hooks write nothing there; make it a folder"]
    return []


def _settings_trouble(words: str) -> str:
    """What is wrong with our settings, and what to do about it."""
    by_words = (remedy for part, remedy in SETTINGS_REMEDIES.items() if part in words)
    return f"{words}; {next(by_words, OTHER_REMEDY)}"


def _recent_errors() -> list[str]:
    """Errors of hooks in the last two days."""
    path = Path(guard_log.path())
    if not path.is_file():
        return []
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - RECENT_DAYS * 86_400))
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return [line for line in lines if line >= since and " ERROR " in line][-ERRORS_SHOWN:]


def _limits() -> list[dict[str, Any]]:
    """The limit of the newest session, and the limits learned on this machine."""
    newest = [
        {"tokens": state.edge_tokens, "source": state.edge_source, "session_id": state.session_id}
        for state in _newest_session()
        if state.edge_tokens
    ]
    return [*newest, *observed_limits.learned_limits()]


def _newest_session() -> list[State]:
    """The newest session that ran here, if any."""
    return [state for _, state in all_windows() if state.was_live][:1]


def _ingest_troubles() -> list[str]:
    """Sessions and logs that could not be read into the database."""
    sources = [f"{name} ({failed.error})" for name, failed in sorted(set_aside.load().items())]
    words = f"{len(sources):,} sources could not be read into the database, and are tried again"
    return [f"{words}: {listed(sources, SOURCES_SHOWN)}; see `holdfast log`"] if sources else []


def _plugin_troubles(installs: list[Install]) -> list[str]:
    """Whether the plugin's environment could not be built."""
    data = plugin_environment.place()
    known = plugin_environment.state(data) if data else {}
    if known.get("state") != "failed" or not any(install.scope == "plugin" for install in installs):
        return []
    log = f"{data}/environment.log"
    words = f"the plugin's environment could not be built: {known.get('words')}"
    return [f"{words}; a new session tries again, and {log} has the details"]


def _tallies() -> dict[str, Any]:
    """Counts of the newest transcript's lines: which were understood, and which were not."""
    newest = [Path(state.transcript) for state in _newest_session()]
    return dict(lookup.tallies(newest[0])) if newest and newest[0].is_file() else {}


ALERTING = "UserPromptSubmit"


@dataclass(frozen=True, slots=True)
class StatusLineCheck:
    fired: FiredHook | None = None
    troubles: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def check_status_line(
    installs: list[Install], project: Path, packages: frozenset[str]
) -> StatusLineCheck:
    """Run the status line that Claude Code shows in this project."""
    if not installs:
        return StatusLineCheck()
    option = " --status-line" if all(one.scope == "plugin" for one in installs) else ""
    gone = tuple(words for install in installs for words in _removed_line(install))
    files = claude_folder.list_files(str(project), os.environ)  # weakest first
    lines = [(path, status_command_in(settings_in(path))) for path in files]
    shown = [(path, command) for path, command in lines if command is not None]
    if not shown:
        how = f"no status line is installed; `holdfast install{option}` adds it"
        return StatusLineCheck(None, gone, () if gone else (how,))
    path, command = shown[-1]
    if path in _project_files(project) and not is_written_by_us(command):
        words = f"the status line shown is that of {path}; it came with the project and was not run"
        return StatusLineCheck(None, gone, (words,))
    trouble, note, fired = missing(command), "", None
    if is_ours(command, packages):
        fired = fire_status_line(command, ALERTING, _alerting_hook(installs))
        trouble = fired.trouble
    elif not trouble:
        note = f"the status line shown is that of {path}, without ours"
    words = f"the status line in {path}: {trouble}; run `holdfast install{option}`"
    troubles = gone + ((words,) if trouble else ())
    return StatusLineCheck(fired, troubles, (note,) if note else ())


def _alerting_hook(installs: list[Install]) -> str:
    """The hook that records the alert which the status line shows; empty if none is installed."""
    hooks = (one for install in installs for one in install.runnable)
    return next((command for event, command in hooks if event == ALERTING), "")


def _project_files(project: Path) -> set[Path]:
    """The settings files of the project, unless they are the user's own."""
    files = {scope: settings_file(scope, Path(places.user_home()), project) for scope in SCOPES}
    return set(files.values()) - {files["user"]}


def _missing_commands(install: Install) -> Iterator[str]:
    """The slash commands that we wrote beside these hooks and that are gone."""
    kept = receipts.load(Path(places.home()).absolute(), install.path)
    files = [Path(file.path) for file in kept.files] if kept else []
    gone = [file.stem for file in files if file.suffix == ".md" and not os.path.lexists(file)]
    if gone:
        names = ", ".join(f"/holdfast:{name}" for name in gone)
        yield f"the slash command{'s' * (len(gone) > 1)} {names} cannot be found; {_fix(install)}"


def _removed_line(install: Install) -> Iterator[str]:
    """Whether our status line was removed from this place."""
    kept = receipts.load(Path(places.home()).absolute(), install.path)
    wrote = kept is not None and kept.record_of(install.path) is not None
    if wrote and status_command_in(settings_in(install.path)) is None:
        yield f"the status line is gone from {install.path}; {_fix(install)}"
