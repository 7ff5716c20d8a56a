"""How long lint takes while somebody types: `python -m benchmarks.lint`.

Prints milliseconds for a rubric of 100 different criteria, and their ratio to one plain pass over the same
words, which holds from machine to machine. The promise is 20 ms. Then CPU seconds for what takes longest: 500
criteria of 10,000 characters that are nearly all conjunctions. The promise is 2 s.
"""

import random
import time

from benchmarks.timing import seconds
from rubricweb.engine.lint import lint_draft
from rubricweb.engine.lint.language import content_stems

CRITERIA, WORDS = 100, 20
VOCABULARY = (
    "names the city and explains why it is good river price year doctor fever risk user advises recommends "
    "source clear appropriate at least two sentences does not mention error medical advice because which when"
)


def main() -> None:
    choose = random.Random(0)
    texts = [" ".join(choose.choices(VOCABULARY.split(), k=WORDS)) + "." for _ in range(CRITERIA)]
    criteria = [{"requirement": text, "weight": i % 7 - 2} for i, text in enumerate(texts)]

    def work() -> None:
        content_stems.cache_clear()
        lint_draft(criteria)

    plain = seconds(lambda: [word for text in texts for word in text.split()])
    took = seconds(work)
    found = len(lint_draft(criteria))
    print(
        f"{CRITERIA} criteria, {found} findings, in milliseconds and against one plain pass over the words:"
    )
    print(f"lint {took * 1000:7.1f} ms  {took / plain:6.1f} ×")
    worst = [{"requirement": f"{number:04} " + "and or " * 1_428, "weight": 1} for number in range(500)]
    content_stems.cache_clear()
    start = time.process_time()
    lint_draft(worst)
    print(f"500 criteria of 10,000 characters of “and or”: {time.process_time() - start:.1f} CPU seconds")


if __name__ == "__main__":
    main()
