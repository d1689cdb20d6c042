"""Whether a sentence calls something done, in any words; a wish, a plan or a denial does not."""

from holdfast.text.sentences import Lazy

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


def plain(sentence: str) -> str:
    """As it is looked through: lower case, without quotes and failures of the past."""
    unquoted = _QUOTED.pattern.sub("it", sentence).lower()
    return _PAST.pattern.sub("", _MENDED.pattern.sub("passes", unquoted))


def is_open(sentence: str) -> bool:
    """It wishes, plans, asks or denies. Behind "Done: " stands only what it is called."""
    low = plain(sentence)
    head, _, name = low.partition(": ")
    if name.count(" ") > 1 and _DONE.pattern.search(head):
        low = head
    return bool(_OPEN.pattern.search(low))


def calls_done(sentence: str) -> bool:
    """It states as a fact that something is done."""
    return bool(_DONE.pattern.search(plain(sentence))) and not is_open(sentence)
