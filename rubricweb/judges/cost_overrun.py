"""Whether replies cost so much more than was set aside for them that what waits must be priced anew."""

from collections import defaultdict
from collections.abc import Hashable

from rubricweb.judges.base import Question, Reply


class CostOverruns:
    """What the replies to each asker cost beyond what was set aside, since it was last cleared.

    Replies vary, and one that is cheaper makes up for one that costs more; but what is saved long before is
    spent on other questions by now, so that an overrun is never below 0.
    """

    def __init__(self) -> None:
        self._usd: defaultdict[Hashable, float] = defaultdict(float)

    def passes(self, asker: Hashable, question: Question, reply: Reply, *, in_flight: int) -> bool:
        """Counts a reply; whether the overrun is now more than is set aside for what is in flight.

        With 0.01 set aside for each and 4 in flight, three replies of 0.02 come to 0.03 and do not pass 0.04;
        a fifth does. A request nobody answered, and an answer that does not say what it used, counts as what
        was set aside. True clears the overrun: those
        who are asked anew are asked for the right price.
        """
        unknown = reply.unanswered + reply.unmetered
        if question.set_aside_usd is None or (reply.cost_usd is None and not unknown):
            return False
        cost = (reply.cost_usd or 0.0) + unknown * question.set_aside_usd
        over = max(0.0, self._usd[asker] + cost - question.set_aside_usd)
        passes = over > question.set_aside_usd * max(in_flight, 1)
        self._usd[asker] = 0.0 if passes else over
        return passes
