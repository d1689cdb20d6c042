"""What is being worked on, in the user's own words."""

from holdfast.checkpoint.facts import Facts, Prompt

SUBSTANTIAL_CHARS = 40  # "yes, go on" is no request
WIDE = 3  # letters a character of a script without blanks is worth
FOLLOWING = 3


def is_substantial(prompt: Prompt) -> bool:
    if prompt.chars >= SUBSTANTIAL_CHARS:
        return True
    return sum(WIDE if mark > "⺀" else 1 for mark in prompt.text) >= SUBSTANTIAL_CHARS


def request(facts: Facts) -> list[Prompt]:
    """The last prompt that says what to do, and those since; oldest first.

    A question, a remark or a correction does not hide the request before it, if that is near.
    """
    prompts = facts.prompts
    near: list[int] = []
    for at in range(len(prompts) - 1, -1, -1):
        if is_substantial(prompts[at]):
            near.append(at)
            if prompts[at].kind == "request" or len(near) > FOLLOWING:
                break
    if not near:
        return prompts[-FOLLOWING:]
    start = near[-1] if prompts[near[-1]].kind == "request" else near[0]
    return [prompts[start], *prompts[start + 1 :][-FOLLOWING:]]
