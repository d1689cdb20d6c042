"""`/api/search`: find what was said, decided, saved or written down, and the turns it came from."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Path, Query, Response
from pydantic import AfterValidator

from holdfast.api.fields import MOST_INT, IdQuery, plain
from holdfast.api.responses import Db, Router, answer, respond
from holdfast.api.routes.machine.files import local_project, read_files
from holdfast.hub.errors import NotThere, Refused, Unreachable
from holdfast.memory import locations, recall, session_sources
from holdfast.memory.expand import FitsSeveral, NotFound, expand
from holdfast.memory.index import UnusableIndex

router = Router(prefix="/api/search", tags=["search"])
Kind = Literal["memory", "checkpoint", "segment", "decision", "message", "turn"]
PAGE_CHARS = 8_000
SYNC_SECONDS = 0.3  # what is new; the server reads the rest in the background
NOWHERE = "nothing to search yet: no session was found on this machine"


ScoreParts = answer("ScoreParts", "keyword:float vector:float")


SearchResult = answer(
    "SearchResult",
    "id:str kind:str score:float title:str snippet:str by:str tier:str project:str session:str "
    "agent:str source:str turns:int[] uuids:str[] at:str parts:ScoreParts",
    doc="`tier` is `warm` or `cold` (archived topics); `turns`: the first and the last, or "
    "nothing.",
)


SearchResultList = answer(
    "SearchResultList",
    "mode:str notes:str[] is_whole:bool results:SearchResult[]",
    doc="`mode` is `hybrid`, or `keyword` where there are no vectors; `notes` say what to know; "
    "`is_whole` is false while something is still read in the background.",
)


SearchSource = answer(
    "SearchSource",
    "id:str kind:str session:str source:str turns:int[] gone:bool text:str more:int notes:str[]",
    doc="The turns themselves; what was kept, where the transcript is `gone`. `more`: the offset "
    "to go on from, 0 at the end.",
)


@router.get("", response_model=SearchResultList)
async def search(
    db: Db,
    q: Annotated[str, Query(min_length=1, max_length=1_000), AfterValidator(plain)],
    project_id: IdQuery = None,
    kind: Annotated[list[Kind], Query(max_length=6)] = [],  # noqa: B006 (never changed)
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
    cold: bool = False,
    keyword: bool = False,
) -> Response:
    """As `holdfast search --json`: of one project, or of all on this machine. `cold`: archived
    topics too; `keyword`: by words only."""
    project = await local_project(db, project_id) if project_id else await _any_project()
    if not project:
        nothing = {"results": [], "mode": recall.KEYWORD, "notes": [NOWHERE], "is_whole": True}
        return respond(nothing)

    def look() -> dict[str, Any]:
        found = recall.recall(
            q,
            project=project,
            limit=limit,
            kinds=kind,
            cold=cold,
            everywhere=project_id is None,
            by_keyword=keyword,
            seconds=SYNC_SECONDS,
        )
        is_whole = not any(note.startswith(recall.UNREAD) for note in found.notes)
        notes = [note.removesuffix(recall.AGAIN) for note in found.notes]
        return {**found.plain(), "notes": notes, "is_whole": is_whole}

    return respond(await read_files(_of_index, look))


@router.get("/{item_id}", response_model=SearchSource)
async def source(
    item_id: Annotated[str, Path(min_length=1, max_length=200), AfterValidator(plain)],
    project: Annotated[
        str | None, Query(max_length=4096), AfterValidator(lambda t: t and plain(t))
    ] = None,
    offset: Annotated[int, Query(ge=0, le=MOST_INT)] = 0,
) -> Response:
    """The turns that a result came from; `project` as the result names it."""
    known = await read_files(session_sources.known_projects)
    where = locations.resolve(project) if project else await _any_project()
    if where not in known:
        raise NotThere("Project on this machine")

    def look() -> dict[str, Any]:
        found = expand(item_id, project=where, offset=offset, most_chars=PAGE_CHARS)
        told = {**found.plain(), "text": found.fenced(), "more": found.next_offset}
        return {name: told[name] for name in SearchSource.model_fields}

    return respond(await read_files(_of_index, look))


async def _any_project() -> str:
    """All projects are asked from the index of one of them."""
    return min(await read_files(session_sources.known_projects), default="")


def _of_index(look: Any) -> dict[str, Any]:
    try:
        found: dict[str, Any] = look()
    except NotFound as error:
        raise NotThere("Result", str(error)) from error
    except FitsSeveral as error:
        raise Refused(str(error), "item_id") from error
    except UnusableIndex as error:
        unusable = Unreachable(str(error))
        unusable.hint = error.hint
        raise unusable from error
    return found
