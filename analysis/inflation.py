"""Measures of filling a cluster: allocation and fragmentation by what has arrived.

As published with FGD (Weng et al., USENIX ATC 2023; scripts/analysis.py of its
artifact), so that numbers can be compared to two decimals.
"""

from importlib.resources import files

import pandas as pd

POLICIES = ("Random", "DotProd", "GpuClustering", "GpuPacking", "BestFit", "FGD")
MEASURES = {"alloc_pct": 2, "frag_total_pct": 2, "frag_idle_pct": 3}  # decimals
MOST = 130  # % of the cluster's GPUs that arrive
PUBLISHED = "published_openb.csv"
FULL = 100  # % arrived at which policies are compared


def arrived_series(events: pd.DataFrame, gpu_milli: int) -> pd.DataFrame:
    """Return the measures at each whole percent of the cluster that has arrived.

    An event belongs to the percent nearest to what has arrived after it (half to
    even); the value of a percent is the mean over its events, or, if it has none, over
    those of its two neighbours.

    Parameters
    ----------
    events : `schedulers.inflation.inflation_events`, milli-GPU.
    gpu_milli : of the whole cluster.

    Returns
    -------
    columns ``arrived_pct`` (0 to 130), ``alloc_pct`` (allocated / total),
    ``frag_total_pct`` (F / total), ``frag_idle_pct`` (F / free), in %.
    """
    percent = (100 * events["arrived"] / gpu_milli).round().astype(int)
    idle = (gpu_milli - events["allocated"]).clip(lower=1)
    values = pd.DataFrame(
        {
            "alloc_pct": (100 * events["allocated"] / gpu_milli).map(_printed),
            "frag_total_pct": 100 * events["fragment"] / gpu_milli,
            "frag_idle_pct": (100 * events["fragment"] / idle).map(_printed),
        }
    )
    # not groupby().mean(), whose sums are compensated and round ties the other way
    series = values.groupby(percent).agg(pd.Series.mean)
    series = series.reindex(range(MOST + 1))
    for empty in series.index[series["alloc_pct"].isna()]:
        series.loc[empty] = values[(percent - empty).abs() <= 1].mean()
    return series.round(MEASURES).rename_axis("arrived_pct").reset_index()


def _printed(value: float) -> float:
    """Return a value as the published log prints it, with two decimals.

    NumPy's round multiplies first and so errs on ties.
    """
    return round(value, 2)


def published_means() -> pd.DataFrame:
    """Return the published means over ten seeds, in %.

    Columns ``trace``, ``policy``, ``arrived_pct`` (10, 20, .., 130 and 95) and
    `MEASURES`. Source: experiments/analysis/expected_results of
    hkust-adsl/kubernetes-scheduler-simulator at 8f3d641 (Apache-2.0), 1,020 runs.
    """
    with files("analysis").joinpath(PUBLISHED).open() as file:
        return pd.read_csv(file)


def inflation_table(series: pd.DataFrame, at: int = FULL) -> pd.DataFrame:
    """Return the mean measures of each trace and policy, published ones beside them.

    Parameters
    ----------
    series : `arrived_series` of all runs, with columns policy, trace and seed.
    at : % arrived.

    Returns
    -------
    columns trace, policy, seeds, then for each measure the mean and the published
    mean (nan where none is known), in the order of the runs.
    """
    here = series[series["arrived_pct"] == at]
    groups = here.groupby(["trace", "policy"], sort=False)
    means = groups[list(MEASURES)].mean()
    known = published_means()
    known = known[known["arrived_pct"] == at].set_index(["trace", "policy"])
    columns = {"seeds": groups["seed"].nunique()}
    for name in MEASURES:
        columns[name] = means[name]
        columns[f"{name}_published"] = known[name].reindex(means.index)
    return pd.DataFrame(columns).reset_index()


def reductions(table: pd.DataFrame) -> pd.DataFrame:
    """Return by how much FGD lowers the unallocated GPUs of each rival, in %.

    Parameters
    ----------
    table : `inflation_table`.

    Returns
    -------
    columns trace, rival, reduction_pct, published_pct.
    """
    rows = []
    for trace, part in table.groupby("trace", sort=False):
        part = part.set_index("policy")
        if "FGD" not in part.index:
            continue
        left = 100 - part[["alloc_pct", "alloc_pct_published"]]
        reduced = 100 * (1 - left.loc["FGD"] / left)
        rivals = part.index.drop("FGD")
        rows += [(trace, rival, *reduced.loc[rival]) for rival in rivals]
    columns = ["trace", "rival", "reduction_pct", "published_pct"]
    return pd.DataFrame(rows, columns=columns)
