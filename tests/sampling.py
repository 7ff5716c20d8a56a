"""A value for each option of a sampling, another than its default: what one walks every door with."""

from typing import Any

from rubricweb.engine.judging.sampling import SAMPLING_OPTIONS, Sampling, SamplingOption


def _value(option: SamplingOption) -> Any:
    if option.kind in (int, float):
        least, most = option.least or 0, option.most or 1
        return option.kind(max(least, (least + most) / 4))
    return True if option.kind is bool else "low"


SAID = {option.name: _value(option) for option in SAMPLING_OPTIONS}
AS_SAID = Sampling(**SAID)
