"""Agreement between raters: every figure with its n and 95 % interval, None where undefined."""

from typing import TYPE_CHECKING, NoReturn

from rubricweb.engine.agreement.figure_rows import FigureRow
from rubricweb.engine.agreement.intervals import Figure, wilson
from rubricweb.engine.agreement.judge.options import OptionScale, compare_options
from rubricweb.engine.agreement.judge.pair_agreement import OptionShares, PairAgreement
from rubricweb.engine.agreement.judge.pair_figures import PAIR_FIGURES, PairFigure
from rubricweb.engine.agreement.judge.pairs import compare_labels, pair_kappa_within
from rubricweb.engine.agreement.metrics import METRICS, Metric
from rubricweb.engine.agreement.raters.ceiling import (
    HumanCeiling,
    JudgeSeat,
    PeopleWithin,
    SeatWithin,
    human_ceiling,
    human_ceilings,
    people_within,
    seat_within,
)
from rubricweb.engine.agreement.raters.krippendorff import (
    alpha_interval,
    alpha_nominal,
    alpha_ordinal,
    alpha_scores,
    alpha_within,
)
from rubricweb.engine.agreement.raters.leniency import (
    MeanRates,
    RaterLeniency,
    effect_bias,
    leaning,
    mean_rates,
    rater_leniency,
)
from rubricweb.engine.agreement.raters.many_raters import (
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    raw_agreement,
    unit_agreement,
)
from rubricweb.engine.agreement.raters.rater_figures import RATER_FIGURES, People, RaterFigure
from rubricweb.engine.agreement.raters.rater_pairs import RaterMatrix, mean_pair_kappa, rater_matrix
from rubricweb.engine.agreement.raters.repeats import (
    Steadiness,
    flip_rate,
    panel_agreement,
    steadiness,
    vote_entropy,
)
from rubricweb.engine.agreement.ratings import Ratings
from rubricweb.engine.agreement.scores.correlation import kendall, pearson, spearman
from rubricweb.engine.agreement.scores.means import mean_figure
from rubricweb.engine.agreement.scores.medians import median_figure
from rubricweb.engine.agreement.scores.paired_tests import (
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
from rubricweb.engine.agreement.scores.people_mean import (
    Labelling,
    LabelsNeeded,
    PeopleMean,
    estimate_people_mean,
    labels_needed,
)
from rubricweb.engine.agreement.scores.report_means import ReportSummary, summarise_reports
from rubricweb.engine.agreement.scores.scores import (
    RunComparison,
    ScoreAgreement,
    cohen_d,
    compare_runs,
    compare_scores,
)
from rubricweb.engine.published.former_names import refuse_name

__all__ = [
    "METRICS",
    "PAIR_FIGURES",
    "RATER_FIGURES",
    "CochranQ",
    "Figure",
    "FigureRow",
    "HumanCeiling",
    "JudgeSeat",
    "Labelling",
    "LabelsNeeded",
    "McNemar",
    "MeanRates",
    "Metric",
    "OptionScale",
    "OptionShares",
    "PairAgreement",
    "PairFigure",
    "PairedT",
    "People",
    "PeopleMean",
    "PeopleWithin",
    "RaterFigure",
    "RaterLeniency",
    "RaterMatrix",
    "Ratings",
    "ReportSummary",
    "RunComparison",
    "ScoreAgreement",
    "SeatWithin",
    "Steadiness",
    "Wilcoxon",
    "alpha_interval",
    "alpha_nominal",
    "alpha_ordinal",
    "alpha_scores",
    "alpha_within",
    "cochran_q",
    "cohen_d",
    "compare_labels",
    "compare_options",
    "compare_runs",
    "compare_scores",
    "effect_bias",
    "estimate_people_mean",
    "fleiss_kappa",
    "flip_rate",
    "gwet_ac1",
    "gwet_ac2",
    "holm",
    "human_ceiling",
    "human_ceilings",
    "kendall",
    "labels_needed",
    "leaning",
    "mcnemar",
    "mean_figure",
    "mean_pair_kappa",
    "mean_rates",
    "median_figure",
    "pair_kappa_within",
    "paired_t",
    "panel_agreement",
    "pearson",
    "people_within",
    "rater_leniency",
    "rater_matrix",
    "raw_agreement",
    "seat_within",
    "spearman",
    "steadiness",
    "summarise_reports",
    "unit_agreement",
    "vote_entropy",
    "wilcoxon",
    "wilson",
]


if not TYPE_CHECKING:  # which would take it for a module with every name there is

    def __getattr__(name: str) -> NoReturn:
        refuse_name(__name__, name)
