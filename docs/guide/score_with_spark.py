"""Scores a Parquet file or folder on Spark.

    spark-submit score_with_spark.py RUN LIBRARY OUT

Every machine needs molgraph and the folders RUN, LIBRARY and OUT. OUT must be new. It has all columns of LIBRARY and
the predictions.
"""
import sys

import molgraph


def score(predictor, library, out):
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.appName("molgraph").getOrCreate()
    table = spark.read.parquet(library)
    table.mapInArrow(predictor, predictor.spark_schema(table.schema)).write.parquet(out)


if __name__ == "__main__":
    run, library, out = sys.argv[1:]
    score(molgraph.BatchPredictor(run), library, out)
