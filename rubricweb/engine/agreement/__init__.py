"""Agreement between raters: every figure with its n and 95 % interval, None where undefined."""

from rubricweb.engine.agreement.accuracy import Confusion
from rubricweb.engine.agreement.ceiling import HumanCeiling, human_ceiling, human_ceilings
from rubricweb.engine.agreement.correlation import kendall, pearson, spearman
from rubricweb.engine.agreement.intervals import Figure, wilson
from rubricweb.engine.agreement.krippendorff import alpha_interval, alpha_nominal, alpha_ordinal, alpha_scores
from rubricweb.engine.agreement.leniency import RaterLeniency, rater_leniency
from rubricweb.engine.agreement.many_raters import (
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    raw_agreement,
    unit_agreement,
)
from rubricweb.engine.agreement.means import mean_figure
from rubricweb.engine.agreement.medians import median_figure
from rubricweb.engine.agreement.metrics import METRICS, Metric
from rubricweb.engine.agreement.options import OptionAgreement, OptionShares, compare_options
from rubricweb.engine.agreement.paired_tests import (
    CochranQ,
    McNemar,
    PairedT,
    Wilcoxon,
    cochran_q,
    holm,
    mcnemar,
    paired_t,
    wilcoxon,
)
from rubricweb.engine.agreement.pairs import PairAgreement, compare_labels
from rubricweb.engine.agreement.prediction_powered import PredictionPowered, prediction_powered_mean
from rubricweb.engine.agreement.rater_pairs import RaterMatrix, mean_pair_kappa, rater_matrix
from rubricweb.engine.agreement.ratings import Ratings
from rubricweb.engine.agreement.repeats import (
    Steadiness,
    flip_rate,
    panel_agreement,
    steadiness,
    vote_entropy,
)
from rubricweb.engine.agreement.scores import (
    RunComparison,
    ScoreAgreement,
    cohen_d,
    compare_runs,
    compare_scores,
)

__all__ = [
    "METRICS",
    "CochranQ",
    "Confusion",
    "Figure",
    "HumanCeiling",
    "McNemar",
    "Metric",
    "OptionAgreement",
    "OptionShares",
    "PairAgreement",
    "PairedT",
    "PredictionPowered",
    "RaterLeniency",
    "RaterMatrix",
    "Ratings",
    "RunComparison",
    "ScoreAgreement",
    "Steadiness",
    "Wilcoxon",
    "alpha_interval",
    "alpha_nominal",
    "alpha_ordinal",
    "alpha_scores",
    "cochran_q",
    "cohen_d",
    "compare_labels",
    "compare_options",
    "compare_runs",
    "compare_scores",
    "fleiss_kappa",
    "flip_rate",
    "gwet_ac1",
    "gwet_ac2",
    "holm",
    "human_ceiling",
    "human_ceilings",
    "kendall",
    "mcnemar",
    "mean_figure",
    "mean_pair_kappa",
    "median_figure",
    "paired_t",
    "panel_agreement",
    "pearson",
    "prediction_powered_mean",
    "rater_leniency",
    "rater_matrix",
    "raw_agreement",
    "spearman",
    "steadiness",
    "unit_agreement",
    "vote_entropy",
    "wilcoxon",
    "wilson",
]
