"""The peers; this script runs in their environment.

  peers.py forest   FIT REST OUT KIND SEED THREADS MAX_FEATURES
  peers.py chemprop FIT REST OUT KIND SEED THREADS [FLAG ...]   flags for `chemprop train` and `chemprop predict`
  peers.py version PACKAGE ...

FIT: columns smiles, target, part (train, val). REST: columns row, smiles. OUT: a column prediction, one line per row of
REST. The forest has nothing to select, so it can be trained on all rows of FIT: a forest trained on the training and
validation sets predicts the test set. For the validation results, a forest trained on the training set alone predicts
the validation set (and test rows with the same SMILES, which the panel does not have). A molecule that this
environment's RDKit cannot read is not used for training and is predicted as nan.
"""

import csv
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys


def read(path: str) -> list[dict[str, str]]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def write(path: str, values) -> None:
    with open(path, "w") as file:
        file.write("prediction\n")
        file.writelines(f"{float(value)!r}\n" for value in values)


def features(smiles: list[str]):
    """Returns 2,048 Morgan counts (radius 2) and RDKit's 2-D descriptors [molecules, 2048 + descriptors]."""
    import numpy as np
    from rdkit import Chem, RDLogger
    from rdkit.Chem import Descriptors, rdFingerprintGenerator

    RDLogger.DisableLog("rdApp.*")
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    rows = []
    for text in smiles:
        molecule = Chem.MolFromSmiles(text)
        counts = generator.GetCountFingerprintAsNumPy(molecule).astype(np.float64)
        descriptors = [function(molecule) for _, function in Descriptors.descList]
        rows.append(np.concatenate([counts, np.asarray(descriptors, dtype=np.float64)]))
    # Undefined values become 0. The forest uses single precision, in which Ipc of large molecules overflows.
    return np.clip(np.nan_to_num(np.stack(rows), nan=0.0), -1e30, 1e30).astype(np.float32)


def forest(fit, rest, out, kind, seed, threads, max_features) -> None:
    import numpy as np
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    known, unknown = read(fit), [row["smiles"] for row in read(rest)]
    target = np.array([float(row["target"]) for row in known])
    options = {
        "n_estimators": 500,
        "random_state": int(seed),
        "n_jobs": int(threads),
        "max_features": max_features if max_features == "sqrt" else float(max_features),
    }
    inputs, unseen = features([row["smiles"] for row in known]), features(unknown)

    def predict(rows, molecules):
        if kind == "regression":
            return RandomForestRegressor(**options).fit(inputs[rows], target[rows]).predict(unseen[molecules])
        model = RandomForestClassifier(**options).fit(inputs[rows], target[rows].astype(int))
        return model.predict_proba(unseen[molecules])[:, list(model.classes_).index(1)]

    train = np.array([row["part"] == "train" for row in known])
    held_out = {row["smiles"] for row in known if row["part"] != "train"}
    valid = np.array([smiles in held_out for smiles in unknown])
    predicted = np.empty(len(unknown))
    predicted[valid] = predict(train, valid)
    predicted[~valid] = predict(np.ones(len(known), dtype=bool), ~valid)
    write(out, predicted)


# Runs both programs in one process, because starting it takes as long as training on a small table. Sets PyTorch's
# number of threads, because chemprop does not.
CHEMPROP = """import json, sys, torch
threads, *commands = json.load(sys.stdin)
torch.set_num_threads(threads)
from chemprop.cli.main import main
for command in commands:
    sys.argv = ["chemprop", *command]
    main()
"""


def chemprop(fit, rest, out, kind, seed, threads, *flags) -> None:
    folder = pathlib.Path(out).parent / "chemprop"
    predicted = folder / "predictions.csv"
    # num-workers 0: in this process. Everything else is chemprop's default, including 50 epochs.
    common = ["-s", "smiles", "-n", "0", "--accelerator", "cpu", *flags]
    train = ["train", "-i", fit, "--target-columns", "target", "--splits-column", "part", "-t", kind]
    train += ["--pytorch-seed", seed, "-o", str(folder), *common]
    predict = ["predict", "-i", rest, "--model-paths", str(folder / "model_0" / "best.pt")]
    predict += ["--preds-path", str(predicted), *common]
    environment = os.environ | {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}
    given = json.dumps([int(threads), train, predict])
    subprocess.run([sys.executable, "-c", CHEMPROP], input=given, text=True, check=True, env=environment)
    rows = read(str(predicted))
    if [row["smiles"] for row in rows] != [row["smiles"] for row in read(rest)]:
        sys.exit("chemprop left rows out or changed their order")
    # chemprop gives a blank if a descriptor is undefined. This counts as a missing prediction.
    write(out, [row["target"] or "nan" for row in rows])


def on_readable(method, fit, rest, out, *arguments) -> None:
    """Runs a method on copies of the tables without the molecules that RDKit cannot read."""
    from rdkit import Chem, RDLogger

    RDLogger.DisableLog("rdApp.*")
    folder, readable = pathlib.Path(out).parent, {}
    for path in (fit, rest):
        rows = read(path)
        readable[path] = [Chem.MolFromSmiles(row["smiles"]) is not None for row in rows]
        with open(folder / f"readable-{pathlib.Path(path).name}", "w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(row for row, good in zip(rows, readable[path]) if good)
    copies = [str(folder / f"readable-{pathlib.Path(path).name}") for path in (fit, rest)]
    method(*copies, out, *arguments)
    predicted = iter(read(out))
    write(out, [next(predicted)["prediction"] if good else "nan" for good in readable[rest]])


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "version":
        print(", ".join(f"{name} {importlib.metadata.version(name)}" for name in sys.argv[2:]))
    elif len(sys.argv) == 9 and sys.argv[1] == "forest":
        on_readable(forest, *sys.argv[2:])
    elif len(sys.argv) >= 8 and sys.argv[1] == "chemprop":
        on_readable(chemprop, *sys.argv[2:])
    else:
        sys.exit(__doc__)
