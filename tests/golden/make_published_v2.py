#!/usr/bin/env python3
"""Makes the golden cases of Graphormer v2 (fairseq) and of its Hugging Face version.

    make_published_v2.py OGB_FEATURES.csv.gz OUTPUT_FOLDER

An independent implementation in float64 PyTorch (made with 2.11), written from the description of the layout: post-LN or
pre-LN blocks, a LayerNorm on the input, Linear-GELU-LayerNorm before the head, one learned bias for all outputs. The
sources for the behaviour of the published code are microsoft/Graphormer (graphormer/models/graphormer.py, graphormer/modules/
graphormer_graph_encoder.py, graphormer_layers.py) and huggingface/transformers (models/graphormer): the input norm is applied
after perturbation and before dropout, and the final_layer_norm in pre-LN files is never applied.
Each case is a folder with weights.pt, gradients.pt (of mean |prediction - target|), expected.csv and case.json.
"""
import csv
import gzip
import json
import pathlib
import sys

import torch
from torch.nn import functional as F

torch.set_default_dtype(torch.float64)
UNREACHABLE = 510
HOPS = 128
MOLECULES = 12
CASES = {
    "graphormer_v2_small": dict(origin="graphormer-v2", pre_layernorm=False, fused=False, outputs=1, path_hops=5),
    "graphormer_v2_preln": dict(origin="graphormer-v2", pre_layernorm=True, fused=True, outputs=1, path_hops=20),
    "graphormer_hf_small": dict(origin="graphormer-hf", pre_layernorm=False, fused=False, outputs=2, path_hops=5)}
LAYERS, WIDTH, FFN, HEADS = 2, 8, 12, 2


def read_molecules(path):
    """The smallest and a few larger molecules of the table: atom columns, bonds as (i, j, columns)."""
    with gzip.open(path, "rt") as file:
        rows = [row for row in csv.DictReader(file)]
    rows.sort(key=lambda row: (row["atoms"].count(";"), row["smiles"]))
    rows = [rows[k * (len(rows) - 300) // (MOLECULES - 1)] for k in range(MOLECULES)]
    molecules = []
    for row in rows:
        atoms = [[int(v) for v in atom.split()] for atom in row["atoms"].split(";")]
        bonds = [[int(v) for v in bond.split()] for bond in (row["bonds"] or "").split(";") if bond]
        molecules.append((row["smiles"], atoms, [(b[0], b[1], b[2:]) for b in bonds]))
    return molecules


def shortest_paths(count, bonds):
    """Distances, and the bonds of one path per pair: the one through the smallest predecessors."""
    column = {}
    neighbours = [[] for _ in range(count)]
    for i, j, kind in bonds:
        column[i, j] = column[j, i] = kind
        neighbours[i].append(j)
        neighbours[j].append(i)
    distance = [[UNREACHABLE] * count for _ in range(count)]
    for start in range(count):
        distance[start][start] = 0
        front = [start]
        while front:
            new = []
            for u in front:
                for v in neighbours[u]:
                    if distance[start][v] == UNREACHABLE:
                        distance[start][v] = distance[start][u] + 1
                        new.append(v)
            front = new
    paths = {}
    for i in range(count):
        for j in range(count):
            if i == j or distance[i][j] == UNREACHABLE:
                continue
            steps, at = [], j
            while at != i:
                before = min(u for u in neighbours[at] if distance[i][u] == distance[i][at] - 1)
                steps.append(column[before, at])
                at = before
            paths[i, j] = steps[::-1]
    degrees = [len(n) for n in neighbours]
    return distance, paths, degrees


def make_weights(case):
    g = torch.Generator().manual_seed(20261121)
    encoder = "encoder.graph_encoder."
    node, bias = encoder + "graph_node_feature.", encoder + "graph_attn_bias."
    w = {}

    def table(name, rows, width, padding=True):
        w[name + ".weight"] = torch.randn(rows, width, generator=g) * 0.5
        if padding:
            w[name + ".weight"][0] = 0

    def linear(name, out, inner, with_bias=True):
        w[name + ".weight"] = torch.randn(out, inner, generator=g) / inner ** 0.5
        if with_bias:
            w[name + ".bias"] = torch.randn(out, generator=g) * 0.2

    def norm(name):
        w[name + ".weight"] = 1 + 0.2 * torch.randn(WIDTH, generator=g)
        w[name + ".bias"] = 0.2 * torch.randn(WIDTH, generator=g)

    table(node + "atom_encoder", 512 * 9 + 1, WIDTH)
    table(node + "in_degree_encoder", 512, WIDTH)
    table(node + "out_degree_encoder", 512, WIDTH)
    table(node + "graph_token", 1, WIDTH, padding=False)
    table(bias + "edge_encoder", 512 * 3 + 1, HEADS)
    table(bias + "edge_dis_encoder", HOPS * HEADS * HEADS, 1, padding=False)
    table(bias + "spatial_pos_encoder", 512, HEADS)
    table(bias + "graph_token_virtual_distance", 1, HEADS, padding=False)
    norm(encoder + "emb_layer_norm")
    if case["pre_layernorm"]:
        norm(encoder + "final_layer_norm")
    for k in range(LAYERS):
        layer = f"{encoder}layers.{k}."
        for part in "kvq":
            linear(f"{layer}self_attn.{part}_proj", WIDTH, WIDTH)
        linear(layer + "self_attn.out_proj", WIDTH, WIDTH)
        norm(layer + "self_attn_layer_norm")
        linear(layer + "fc1", FFN, WIDTH)
        linear(layer + "fc2", WIDTH, FFN)
        norm(layer + "final_layer_norm")
        if case["fused"]:
            for kind in ("weight", "bias"):
                parts = [w.pop(f"{layer}self_attn.{part}_proj.{kind}") for part in "qkv"]
                w[f"{layer}self_attn.in_proj_{kind}"] = torch.cat(parts)
    linear("encoder.lm_head_transform_weight", WIDTH, WIDTH)
    norm("encoder.layer_norm")
    if case["origin"] == "graphormer-hf":
        linear("classifier.classifier", case["outputs"], WIDTH, with_bias=False)
        w["classifier.lm_output_learned_bias"] = torch.tensor([0.3])
    else:
        linear("encoder.embed_out", case["outputs"], WIDTH, with_bias=False)
        w["encoder.lm_output_learned_bias"] = torch.tensor([0.3])
        linear("encoder.masked_lm_pooler", WIDTH, WIDTH)
    # Files store float32: compute with the stored values.
    return {name: value.float().double().requires_grad_(True) for name, value in w.items()}


def attention_bias(w, atoms, bonds, hops):
    bias = "encoder.graph_encoder.graph_attn_bias."
    count = len(atoms)
    distance, paths, degrees = shortest_paths(count, bonds)
    to_graph = w[bias + "graph_token_virtual_distance.weight"][0]
    scores = [[to_graph] * (count + 1) for _ in range(count + 1)]
    edges = w[bias + "edge_encoder.weight"]
    hop_weight = w[bias + "edge_dis_encoder.weight"].view(HOPS, HEADS, HEADS)
    for i in range(count):
        for j in range(count):
            value = w[bias + "spatial_pos_encoder.weight"][distance[i][j] + 1]
            path = paths.get((i, j), [])[:hops]
            for p, columns in enumerate(path):
                rows = torch.tensor([c + 3 + 512 * k for k, c in enumerate(columns)])
                value = value + edges[rows].mean(0) @ hop_weight[p] / len(path)
            scores[i + 1][j + 1] = value
    return torch.stack([torch.stack(row) for row in scores]).permute(2, 0, 1), degrees


def forward(w, case, atoms, bonds):
    encoder = "encoder.graph_encoder."
    node = encoder + "graph_node_feature."

    def linear(name, x):
        return F.linear(x, w[name + ".weight"], w.get(name + ".bias"))

    def norm(name, x):
        return F.layer_norm(x, (WIDTH,), w[name + ".weight"], w[name + ".bias"], 1e-5)

    bias, degrees = attention_bias(w, atoms, bonds, case["path_hops"])
    rows = torch.tensor([[c + 2 + 512 * k for k, c in enumerate(atom)] for atom in atoms])
    degree = torch.tensor(degrees) + 1
    x = w[node + "atom_encoder.weight"][rows].sum(1)
    x = x + w[node + "in_degree_encoder.weight"][degree] + w[node + "out_degree_encoder.weight"][degree]
    x = torch.cat([w[node + "graph_token.weight"], x])
    x = norm(encoder + "emb_layer_norm", x)
    for k in range(LAYERS):
        layer = f"{encoder}layers.{k}."

        def attend(y):
            if case["fused"]:
                q, k_, v = F.linear(y, w[layer + "self_attn.in_proj_weight"], w[layer + "self_attn.in_proj_bias"]).chunk(3, 1)
            else:
                q, k_, v = (linear(f"{layer}self_attn.{part}_proj", y) for part in "qkv")
            split = lambda t: t.view(len(y), HEADS, -1).transpose(0, 1)
            score = split(q) @ split(k_).transpose(1, 2) / (WIDTH // HEADS) ** 0.5 + bias
            return linear(layer + "self_attn.out_proj", (score.softmax(-1) @ split(v)).transpose(0, 1).reshape(len(y), WIDTH))

        def feed(y):
            return linear(layer + "fc2", F.gelu(linear(layer + "fc1", y)))

        if case["pre_layernorm"]:
            x = x + attend(norm(layer + "self_attn_layer_norm", x))
            x = x + feed(norm(layer + "final_layer_norm", x))
        else:
            x = norm(layer + "self_attn_layer_norm", x + attend(x))
            x = norm(layer + "final_layer_norm", x + feed(x))
    embedding = x[0]
    y = norm("encoder.layer_norm", F.gelu(linear("encoder.lm_head_transform_weight", embedding)))
    if case["origin"] == "graphormer-hf":
        return linear("classifier.classifier", y) + w["classifier.lm_output_learned_bias"], embedding
    return linear("encoder.embed_out", y) + w["encoder.lm_output_learned_bias"], embedding


def main():
    molecules, out = read_molecules(sys.argv[1]), pathlib.Path(sys.argv[2])
    for name, case in CASES.items():
        w = make_weights(case)
        results = [forward(w, case, atoms, bonds) for _, atoms, bonds in molecules]
        # One target per molecule, used for every output.
        targets = torch.randn(len(molecules), generator=torch.Generator().manual_seed(7)).mul(1e4).round().div(1e4)
        predictions = torch.stack([p for p, _ in results])
        (predictions - targets[:, None]).abs().mean().backward()
        folder = out / name
        folder.mkdir(parents=True, exist_ok=True)
        torch.save({k: v.detach().float() for k, v in w.items()}, folder / "weights.pt")
        torch.save({k: (torch.zeros_like(v) if v.grad is None else v.grad).float() for k, v in w.items()},
                   folder / "gradients.pt")
        info = dict(kind=case["origin"], layers=LAYERS, hidden=WIDTH, ffn=FFN, heads=HEADS, features="ogb",
                    multi_hop_max_dist=case["path_hops"], spatial_pos_max=None, outputs=case["outputs"])
        (folder / "case.json").write_text(json.dumps(info, indent=1) + "\n")
        with open(folder / "expected.csv", "w") as file:
            outputs = ["prediction"] if case["outputs"] == 1 else [f"prediction_{k + 1}" for k in range(case["outputs"])]
            file.write(",".join(["smiles", "target", *outputs, *(f"embedding_{c}" for c in range(WIDTH))]) + "\n")
            for (smiles, _, _), target, (prediction, embedding) in zip(molecules, targets, results):
                values = [f"{target:.4f}", *(f"{p:.12g}" for p in prediction), *(f"{e:.10g}" for e in embedding)]
                file.write(",".join([smiles, *values]) + "\n")


if __name__ == "__main__":
    main()
