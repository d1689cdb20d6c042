"""What a sentence says of the progress of work: it is done, or it is put off.

A wish, a plan or a denial calls nothing done. Put off is what the model lists as remaining, and
what the user wants done later. Neither ends with the turn it was said in: a small request that is
made and answered next says nothing about it. What the model only offers or advises is no such work,
see `plans.proposals`.
"""

import re

from holdfast.text.sentences import ASKING, Lazy, clip, sentences, within

_MENDED = Lazy(r"\bno longer (?:fail\w*|broken|an? (?:issue|problem))")
_QUOTED = Lazy('[“"][^“”"]{8,}[”"]')
# Past failures, and "nothing is left": neither makes a sentence one about open work.
_PAST = Lazy(
    r"\b(?:failing|failed|broken) (?=tests?\b|\W?\w*test_)|\b(?:0|no) fail\w*"
    r"|\b(?:had |has )?(?:failed|(?:was|were) failing|broke) (?:earlier|before|previously|at first)"
    r"|\b(?:nothing|none|no \w+) (?:is |are |was )?(?:left|remain\w*|pending|open)(?: to do)?"
    r"|^pending tasks?: none|\bpreviously failing\b|\bexpected\b[^.]{0,60}\bgot\b"
)
_OPEN = Lazy(
    r"\bfail(?:s|ed|ing|ures?)?\b|\b(?:will|would|should|could|must|needs?|want|wants|next|todo|"
    r"pending|remain\w*|until|once|if|when|whether|unless|ensure|verify|confirm|expect\w*|let|try|"
    r"trying|going|not|never|yet|cannot|almost|mostly|partly|except|in[ _-]progress|asked|please|"
    r"requested|goal|supposed|assum\w*|claim\w*|instead|noch|nicht|kein\w*|offen|muss|soll\w*|wird|"
    r"sobald|wenn|todavía|falta|aún|cuando|pendientes?|debe|será|pas|reste|doit|quand"
    r")\b|(?:^|[,;] |\b(?:to|then|next:?|and) )make (?!\w+`)(?:sure|all|the|it|every\w*)\b"
    r"|n't\b|\?|未|まだ|残|还没|没有|尚"
)
_DONE = Lazy(
    r"\b(?:is|are|was|were|been|now|got|all|both|fully|already|and|just|everything is) "
    r"(?:fixed|resolved|done|completed?|finished|implemented|verified|green|closed|passing)\b"
    r"|^(?:fixed|resolved|completed|finished|implemented|done|just completed)\b"
    r"|: (?:fixed|resolved|done|completed?|finished|implemented|passing|green)\b"
    r"|\b(?:i|we|have|has|successfully) (?:fixed|resolved|completed|finished|implemented)\b"
    r"|\b(?:fixed|resolved|done|completed|finished)[\W_]*$|✅|\[x\]"
    r"|\b(?:shipped|landed|merged|delivered|wrapped up|sorted out|checked off|taken care of|"
    r"dealt with|out of the way|in place|(?:back to|went|turned) green)\b|[✓✔☑]"
    r"|\b(?:pass|passes|passed|succeeds|succeeded|works|worked)\b(?!-)"
    r"|\b(?:erledigt|behoben|abgeschlossen|fertig\w*|umgesetzt|terminée?s?|corrigée?s?|résolue?s?|"
    r"completad[oa]s?|terminad[oa]s?|resuelt[oa]s?|corregid[oa]s?|list[oa]s?)\b"
    r"|完了|完成|修正済|已修复|已解决|완료"
)


def normalize(sentence: str) -> str:
    """As it is looked through: lower case, without quotes and failures of the past."""
    unquoted = _QUOTED.pattern.sub("it", sentence).lower()
    return _PAST.pattern.sub("", _MENDED.pattern.sub("passes", unquoted))


def speaks_of_open_work(sentence: str) -> bool:
    """It wishes, plans, asks or denies. Behind "Done: " stands only what it is called."""
    low = normalize(sentence)
    head, _, name = low.partition(": ")
    if name.count(" ") > 1 and _DONE.pattern.search(head):
        low = head
    return bool(_OPEN.pattern.search(low))


def calls_done(sentence: str) -> bool:
    """It states as a fact that something is done."""
    return bool(_DONE.pattern.search(normalize(sentence))) and not speaks_of_open_work(sentence)


MOST_ITEMS, MOST_SENTENCES = 12, 4
LONGEST, SHORTEST = 200, 8
READ_CHARS = 3000  # of the user's words: more is pasted
_LEFT_HINTS = (
    *("remain", "still ", " left", "to do", "to-do", "todo", "not done", "not yet", "outstanding"),
    *("deferred", "open items", "offen", "pendiente", "reste", "falta", "残り", "剩下", "未完"),
)
# What a heading or the words before a colon say of work that somebody still has to do.
_LEFT = Lazy(
    r"(?:^|\b)(?:remaining(?: (?:work|tasks?|steps?|items?|todos?|issues?))?"
    r"|(?:still|what's|what is) (?:open|to do|missing|left|pending|remaining)(?: to do)?"
    r"|left to do|not (?:yet )?(?:done|implemented|started|finished)(?: yet)?|to[- ]?dos?"
    r"|outstanding(?: (?:work|tasks?|items?|issues?))?|deferred(?: (?:work|tasks?|items?))?"
    r"|open (?:items|tasks|work|points)|(?:noch )?offen\w*|noch zu tun|pendientes?"
    r"|(?:lo que )?falta|reste à faire|残り|剩下|未完了)$",
    re.IGNORECASE,
)
_ITEM = Lazy(r"[ \t]{0,3}(?:[-*•]|\d{1,2}[.)])[ \t]+(?:\[( |x|X)\][ \t]+)?(\S.*)")
_NOTHING = (
    "none",
    "nothing",
    "n/a",
    "no ",
    "nichts",
    "keine",
    "nada",
    "rien",
    "✅",
    "☑",
    "✔",
    "~~",
)
TO_USER = Lazy(r"\b(?:you|your|du|dir|vous|usted|você)\b", re.IGNORECASE)
_LATER_HINTS = (
    *("after that", "after this", "afterwards", "later", "once ", "when ", "next ", "forget"),
    *("remember", "danach", "anschlie", "sobald", "später", "después", "luego", "ensuite", "après"),
    *("follow-up", "follow up", "wenn ", "cuando ", "quand ", "之后", "その後"),
)
_WE = r"(?:please |also |then |you (?:can|should) |we(?:'ll| will| can| should) |let'?s )*"
_LATER = Lazy(
    rf"(?:^|[,;:] |\b(?:and|und|y|et) )(?:after (?:that|this)|afterwards),? {_WE}[a-z]+ (?!,)\S"
    r"|(?:^|[,;:] )(?:danach|anschließend|después|luego|ensuite|après ça),? \S+ \S"
    r"|^(?:once|when|as soon as|sobald|wenn|cuando|quand)\b[^,]{4,120}\b(?:done|finish\w*|merged|"
    r"complete\w*|pass(?:es)?|green|works?|ready|launched|confirmed|approved|fertig|erledigt|"
    r"läuft|laufen|funktionier\w*|steht|funcion\w+|marchent?|"
    rf"listo|terminé\w*)\b[^,]{{0,80}}, {_WE}[a-z]+ \S"
    r"|\b(?:when|once|after) (?:you're|you are|that's|that is|it's|this is) (?:done|finished|ready)"
    r"|\b(?:let's|we(?:'ll| will| can| should)|i(?:'ll| will)|you can)\b.{0,60}"
    r"\b(?:later|afterwards|another time|next session|in a follow[- ]?up)\b"
    r"|\bnext (?:todo|task|up)\b(?: is| being|:|,)"
    r"|(?:^|[,;:] |\band )(?:please )?(?:don't|do not) forget to \w+ \S"
    r"|(?:^|[,;:] |\band )(?:please )?remember to \w+ \S"
    r"|之后|その後",
    re.IGNORECASE,
)
_WITH_GIT = Lazy(r"\b(?:commit|push|merge|pull request|pr)\b", re.IGNORECASE)  # see `open_items`


def find_remaining(text: str) -> list[str]:
    """What a text of the model's lists as remaining, under a heading or behind a colon."""
    if not within(_LEFT_HINTS, text.lower()):
        return []
    items: list[str] = []
    under = False
    for line in text.splitlines():
        item = _ITEM.pattern.match(line)
        if item and under:
            if item[1] not in ("x", "X"):
                items.append(item[2])
        elif line.strip() and not line.startswith(("   ", "\t")):
            head, colon, rest = line.replace("*", "").partition(":")
            is_heading = line.startswith(("#", "**")) or (bool(colon) and not rest.strip())
            is_left = _is_left(head)
            under = is_left and is_heading and not rest.strip()
            if is_left and rest.strip():
                items.append(rest)
    bare_items = [_bare(one) for one in items]
    return [one for one in bare_items if len(one) >= SHORTEST and not _is_none(one)][:MOST_ITEMS]


def _is_left(head: str) -> bool:
    bare = head.strip(" \t#*_-.•")
    if len(bare) > 60 or TO_USER.pattern.search(bare):
        return False
    return bool(_LEFT.pattern.search(bare))


def _bare(item: str) -> str:
    return clip(" ".join(item.replace("*", "").replace("`", "").split()).strip(" -:"), LONGEST)


def _is_none(item: str) -> bool:
    return item.lower().startswith(_NOTHING)


def find_postponed(words: str) -> list[str]:
    """Sentences of the user's that put work off. Commits and pushes are looked for in git."""
    low = words[:READ_CHARS].lower()
    if len(words) > READ_CHARS or not within(_LATER_HINTS, low):
        return []
    return [
        clip(one, LONGEST)
        for one in sentences(words.replace("\u2019", "'"))
        if SHORTEST < len(one) < 2 * LONGEST
        and not one.endswith(ASKING)
        and _LATER.pattern.search(one)
        and not _WITH_GIT.pattern.search(one)
    ][:MOST_SENTENCES]
