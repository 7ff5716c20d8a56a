"""Statistics libraries that our figures are held against, imported by the first test that uses one.

Importing them takes half a minute of CPU on a slow machine, and every test process imports every test module.
"""

import importlib
from typing import Any


class _Module:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):  # pytest looks at everything in a module: whether it is a test
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self._name), attribute)


krippendorff = _Module("krippendorff")
scipy_stats = _Module("scipy.stats")
sklearn_metrics = _Module("sklearn.metrics")
statsmodels_contingency = _Module("statsmodels.stats.contingency_tables")
statsmodels_inter_rater = _Module("statsmodels.stats.inter_rater")
statsmodels_multitest = _Module("statsmodels.stats.multitest")
statsmodels_proportion = _Module("statsmodels.stats.proportion")
