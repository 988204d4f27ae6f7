# %% [markdown]
# # A tour of molgraph
#
# This notebook trains a model on ESOL (`esol.csv`: 1,128 molecules with measured solubilities in log mol/l), predicts
# with intervals, explains a prediction, and uses the embeddings in scikit-learn. `scripts/write-notebook` makes it from
# `tour.py`. [python.md](python.md) describes the package.

# %%
import matplotlib.pyplot as plt
import pandas
from IPython.display import SVG, display

import molgraph

table = pandas.read_csv("esol.csv")[["smiles", "measured log solubility in mols per litre"]]
table.columns = ["smiles", "logS"]
table.head()

# %% [markdown]
# ## Train
#
# `train` runs `molgraph-train`: it splits the molecules at random (80/10/10), starts from the shipped weights, and
# blends the transformer with boosted trees and a Gaussian process. All flags of the program are arguments. In a
# notebook, `run` alone on a line shows the report.

# %%
run = molgraph.train(table, "runs/esol", target_columns=["logS"], quiet=True)
pandas.DataFrame(run.results).T[["mae", "rmse", "r2"]]

# %%
history = pandas.DataFrame(run.history)
history.plot(x="epoch", y="valid_mae", figsize=(5, 2.5), ylabel="validation MAE", legend=False);

# %% [markdown]
# ## Predict
#
# An invalid SMILES does not raise an exception. It gets a status and a reason.

# %%
predictor = run.predictor(interval=0.9, domain=True)
smiles = ["CCO", "CC(=O)Oc1ccccc1C(=O)O", "c1ccc2c(c1)ccc3ccccc23", "not a molecule"]
predictor.predict(smiles).to_pandas(smiles)

# %% [markdown]
# The held-out test molecules, with their 90 % prediction intervals:

# %%
test = pandas.read_csv("runs/esol/test_predictions.csv")
found = predictor.predict(test["smiles"])
low, high = found.low[:, 0], found.high[:, 0]
inside = test["logS"].between(low, high).mean()

plt.figure(figsize=(4, 4))
plt.errorbar(test["logS"], found.values[:, 0], [found.values[:, 0] - low, high - found.values[:, 0]], fmt="o", ms=3, lw=0.5)
plt.axline((0, 0), slope=1, color="grey", lw=1)
plt.xlabel("measured logS")
plt.ylabel("predicted logS")
plt.title(f"{inside:.0%} of the test molecules are in their 90 % interval", fontsize=9);

# %% [markdown]
# ## Explain
#
# Integrated gradients attribute a prediction to the atoms: `prediction = baseline + sum of atoms + descriptors + blend`.
# `molgraph-score --draw`, here through `score_file`, draws the atoms.

# %%
explained = predictor.explain(smiles[:3])
pandas.DataFrame({"smiles": smiles[:3], "baseline": explained.baseline[:, 0],
                  "atoms": [atoms[:, 0].sum() for atoms in explained.atoms], "descriptors": explained.descriptors[:, 0],
                  "blend": explained.blend[:, 0], "prediction": explained.prediction[:, 0]}).round(2)

# %%
pandas.DataFrame({"smiles": smiles[1:2]}).to_csv("aspirin.csv", index=False)
molgraph.score_file(run, "aspirin.csv", "explained.csv", explain="atoms", draw="drawings", quiet=True)
display(SVG("drawings/1.svg"))

# %% [markdown]
# ## Embed
#
# `MolgraphEmbedder` is a scikit-learn transformer. Without an argument, it uses the shipped weights, which were
# pre-trained on other molecules. The first two principal components of the vectors, coloured by solubility:

# %%
from sklearn.decomposition import PCA
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

vectors = molgraph.MolgraphEmbedder().fit_transform(table["smiles"])
x, y = PCA(2).fit_transform(vectors).T
plt.figure(figsize=(4.5, 3.5))
plt.scatter(x, y, c=table["logS"], s=5)
plt.colorbar(label="logS");

# %%
model = make_pipeline(molgraph.MolgraphEmbedder(), RidgeCV([1, 10, 100]))
cross_val_score(model, table["smiles"], table["logS"], cv=3, scoring="neg_mean_absolute_error").round(3)
