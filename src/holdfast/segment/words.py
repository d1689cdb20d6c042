"""The words a text is about: what carries a topic, less what stands in every text."""

from __future__ import annotations

import re

READ_CHARS = 3000
LONGEST = 40
_WORD = re.compile(r"[^\W\d_][\w]{2,59}")
_COMMON_WORDS = (
    "about above add added adding adds after again against all already also always and another "
    "any anything are around ask asked async auf await because been before being below between "
    "bool both build built but call called calls can cannot case change changed changes "
    "changing check checked checking class clear code comment commit commits complete completed "
    "config const correct could create created current currently dans das data def default den "
    "der des did die different does doing done down each ein eine either else ensure error "
    "errors est even every everything exactly example existing expected fail failed failing "
    "fails false far few file files find fine first fix fixed fixes following for found from "
    "full function für get getting give given goes going good got great had handle has have "
    "having here how however implement implementation implemented import important include "
    "including input instead int into issue issues ist its itself just keep kind know las last "
    "later least les let lets like line lines list look looking looks los made main make makes "
    "making many may maybe means method might missing mit more most move much must name need "
    "needed needs never new next nicht none not nothing now null number off okay old once one "
    "only open other our out output over own para part pass passed passes passing path perfect "
    "place plan please point possible pour probably problem proceed project properly provide "
    "put que question read ready real really reason related remaining remove removed result "
    "results return returns review right run running runs same save say see seems self set "
    "several shall should show shows similar simple since single small some something specific "
    "start started starting state still str string such sure take task tasks test tested "
    "testing tests than thanks that the their them then there these they thing things think "
    "this those though three through time too tried true try trying two type und under "
    "understand une until update updated updates use used user users uses using value values "
    "verify version very via wait want wants was way well were what when where whether which "
    "while who whole why will with within without work working works would write writing "
    "written wrong yes yet you your "
)
COMMON = frozenset(_COMMON_WORDS.split())


def words(text: str) -> dict[str, int]:
    """Each word with its count, in small letters, the plural as the one; names stay whole."""
    found: dict[str, int] = {}
    for word in _WORD.findall(text[:READ_CHARS]):
        low = _stem(word.lower())[:LONGEST]
        if len(low) > 2 and low not in COMMON:
            found[low] = found.get(low, 0) + 1
    return found


def _stem(word: str) -> str:
    if word in COMMON or "_" in word or len(word) < 5:
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def is_name(word: str) -> bool:
    """Shaped as code rather than prose; by itself it tells what a text is about."""
    return "_" in word or any(mark.isdigit() for mark in word)
