"""Scores a Parquet file or folder on Ray, on this machine or on the cluster of $RAY_ADDRESS.

    python score_with_ray.py RUN LIBRARY OUT

Every machine needs molgraph and the folders RUN, LIBRARY and OUT. OUT has all columns of LIBRARY and the predictions.
"""
import sys

import molgraph


def score(predictor, library, out):
    import ray

    ray.data.read_parquet(library).map_batches(predictor, batch_size=8192).write_parquet(out)


if __name__ == "__main__":
    run, library, out = sys.argv[1:]
    score(molgraph.BatchPredictor(run), library, out)
