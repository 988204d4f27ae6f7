"""Scores a Parquet file or folder on Ray, on this machine or on the cluster of $RAY_ADDRESS.

    python score_with_ray.py RUN LIBRARY OUT

Every machine needs molgraph and the folders RUN, LIBRARY and OUT. OUT must be new. It has all columns of LIBRARY and
the predictions.
"""
import os
import sys

import molgraph


def score(predictor, library, out):
    import ray

    if os.path.exists(out):
        raise FileExistsError(f"{out} already exists")
    batches = {"batch_size": 8192, "batch_format": "pyarrow"}
    ray.data.read_parquet(library).map_batches(predictor, **batches).write_parquet(out)


if __name__ == "__main__":
    run, library, out = sys.argv[1:]
    score(molgraph.BatchPredictor(run), library, out)
