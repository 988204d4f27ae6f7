#!/usr/bin/env bash
# Makes the files of this folder with the programs in $1: ./make.sh /path/to/old/build/release/bin
# Existing files are not changed. Add files that later versions write differently.
set -euo pipefail
cd "$(dirname "$0")"
bin=$1
small=(--layers 2 --width 8 --ffn 8 --heads 2 --seed 7 --threads 1 -q)

# GRPE with URPE's gate, regression: stopped by a signal (stopped), and completed by the same version (grpe).
if [ ! -e grpe ]; then
  "$bin/molgraph-train" molecules.csv -o stopped --model grpe --urpe --target-columns penalized_logp --epochs 60 --patience 0 -b 1 --descriptors none --no-blend "${small[@]}" &
  train=$!
  until [ "$(cat stopped/metrics.csv 2>/dev/null | wc -l)" -ge 3 ]; do :; done
  kill $train
  wait $train || true
  cp -r stopped grpe
  "$bin/molgraph-train" molecules.csv -o grpe --resume -q
  rm -rf {stopped,grpe}/{log.txt,training.lock,report.html} grpe/checkpoints
fi
# Graphormer with the gate's options, two classes, as a blend.
if [ ! -e graphormer ]; then
  "$bin/molgraph-train" molecules.csv -o graphormer --model graphormer --urpe --gate-relu --gate-path --target-columns nitrogen \
    --epochs 2 "${small[@]}"
  (cd graphormer && rm -rf checkpoints log.txt training.lock report.html)
fi
# A store with a target and a split.
[ -e molecules.h5.gz ] || "$bin/molgraph-featurize" molecules.csv -o molecules.h5 --target-columns penalized_logp --split-type scaffold -q
# Scores with their record, embeddings in every format.
[ -e scored.csv ] || "$bin/molgraph-score" -m grpe -i molecules.csv -o scored.csv -q
[ -e classified.csv ] || { "$bin/molgraph-score" -m graphormer -i molecules.csv -o classified.csv -q; rm classified.csv.json; }
for suffix in npy npz h5; do
  [ -e embedded.$suffix ] || [ -e embedded.$suffix.gz ] || "$bin/molgraph-embed" -m grpe -i molecules.csv -o embedded.$suffix --pooling mean -q
done
rm -f embedded.*.json
# An imported model: a published layout with ZINC's columns; its weights are part of a golden model (cut_to_zinc.py).
if [ ! -e imported ]; then
  python3 cut_to_zinc.py ../golden/graphormer_v2_small/weights.pt zinc.safetensors
  "$bin/molgraph-import" zinc.safetensors --origin graphormer-v2 -o imported -q
  rm -f zinc.safetensors imported/log.txt
  "$bin/molgraph-import" imported --export exported.pt -q
  gzip -9n exported.pt
  "$bin/molgraph-score" -m imported -i molecules.csv -o imported_scored.csv -q
  rm -f imported_scored.csv.json
fi
# HDF5 files are sparse.
for store in molecules.h5 embedded.h5; do [ ! -e $store ] || gzip -9n $store; done
