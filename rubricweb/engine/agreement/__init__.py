"""Agreement between raters: every figure with its n and 95 % interval, None where undefined."""

from rubricweb.engine.agreement.accuracy import Confusion
from rubricweb.engine.agreement.intervals import Figure, wilson
from rubricweb.engine.agreement.krippendorff import alpha_nominal
from rubricweb.engine.agreement.pairs import PairAgreement, compare_labels
from rubricweb.engine.agreement.ratings import Ratings

__all__ = ["Confusion", "Figure", "PairAgreement", "Ratings", "alpha_nominal", "compare_labels", "wilson"]
