"""What is being worked on, in the user's own words."""

from holdfast.checkpoint.facts import Facts, Prompt

SUBSTANTIAL_CHARS = 40  # "yes, go on" is no request
FOLLOWING = 3


def request(facts: Facts) -> list[Prompt]:
    """The last prompt that says what to do, and the short ones since; oldest first."""
    for index in range(len(facts.prompts) - 1, -1, -1):
        if facts.prompts[index].chars >= SUBSTANTIAL_CHARS:
            return [facts.prompts[index], *facts.prompts[index + 1 :][-FOLLOWING:]]
    return facts.prompts[-FOLLOWING:]
