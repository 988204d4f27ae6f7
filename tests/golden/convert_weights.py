#!/usr/bin/env python3
"""Turns weights in the layout of the published code into this project's parameter names, for the golden tests.

    convert_weights.py CASE_FOLDER OUTPUT_FOLDER

reads case.json, weights.pt and gradients.pt (`torch.save` state dicts) of CASE_FOLDER and writes weights.safetensors
and gradients.safetensors, float32 as stored. Only rows that the vocabulary of `ogb` or `zinc` can ask for are kept. A
row map is a list with, per row of our table, the published row (None = zeros). Gradients of rows that are copies of
another row are zero: such classes are tied by the model (GRPE) or do not occur (FAR, as L exceeds every distance).
Python's standard library only.
"""
import collections
import json
import pathlib
import pickle
import struct
import sys
import zipfile

ATOM_DIMS = {"ogb": [119, 5, 12, 12, 10, 6, 6, 2, 2], "zinc": [28]}
BOND_DIMS = {"ogb": [5, 6, 2], "zinc": [4]}
BOND_IDS = {"ogb": 60, "zinc": 4}
MAX_DISTANCE = {"ogb": 31, "zinc": 38}  # Graphormer: above every distance of the molecules; 38 is the 40-row table
MAX_DEGREE = 8
PUBLISHED_COLUMN = 512  # rows per feature column in the published tables

BLOCK_NAMES = {
    "self_attention_norm": "attention_norm", "ffn_norm": "ffn_norm",
    "ffn.layer1": "ffn.linear1", "ffn.layer2": "ffn.linear2",
    "self_attention.linear_q": "attention.query", "self_attention.linear_k": "attention.key",
    "self_attention.linear_v": "attention.value", "self_attention.output_layer": "attention.output"}


class StateDictReader(pickle.Unpickler):
    """Reads a state dict's pickle; everything but tensors and dicts is refused."""

    def __init__(self, archive):
        self.archive = archive
        self.root = archive.namelist()[0].split("/")[0]
        super().__init__(archive.open(self.root + "/data.pkl"))

    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return self.tensor
        if (module, name) == ("torch", "FloatStorage"):
            return "f"
        raise pickle.UnpicklingError(f"{module}.{name} is not expected in a state dict")

    def persistent_load(self, key):
        return key

    def tensor(self, storage, offset, shape, strides, *_):
        code, name, count = storage[1], storage[2], storage[4]
        values = struct.unpack(f"<{count}{code}", self.archive.read(f"{self.root}/data/{name}"))
        expected = [1] * len(shape)
        for k in range(len(shape) - 2, -1, -1):
            expected[k] = expected[k + 1] * shape[k + 1]
        assert list(strides) == expected, "only contiguous tensors"
        total = shape[0] * expected[0]
        return list(shape), list(values[offset:offset + total])


def read_state_dict(path):
    with zipfile.ZipFile(path) as archive:
        return StateDictReader(archive).load()


def write_safetensors(path, metadata, tensors):
    header, data = {"__metadata__": metadata}, b""
    for name in sorted(tensors):
        shape, values = tensors[name]
        part = struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def pick(table, rows):
    """Rows of a [R, C] table by the row map."""
    shape, values = table
    width = shape[1]
    picked = []
    for row in rows:
        inside = row is not None and row < shape[0]
        picked += values[row * width:(row + 1) * width] if inside else [0.0] * width
    return [len(rows), width], picked


def column_rows(dims, shift):
    return [value + shift + PUBLISHED_COLUMN * column for column, dim in enumerate(dims) for value in range(dim)]


def flat(tensor):
    shape, values = tensor
    return [len(values)], values


def convert_blocks(state, layers):
    tensors = {}
    for k in range(layers):
        for theirs, ours in BLOCK_NAMES.items():
            for part in ("weight", "bias"):
                tensors[f"encoder.layers.{k}.{ours}.{part}"] = state[f"layers.{k}.{theirs}.{part}"]
    for part in ("weight", "bias"):
        tensors[f"encoder.final_norm.{part}"] = state[f"final_ln.{part}"]
    return tensors


def convert_graphormer(state, case, gradients):
    features, heads, hops = case["features"], case["heads"], case["multi_hop_max_dist"]
    distance = MAX_DISTANCE[features]
    unreachable = state["spatial_pos_encoder.weight"][0][0] - 1
    named = [None] if features == "zinc" else [unreachable]  # 40 rows have none for pairs without a path
    far = [None] if gradients else named
    spatial = [d + 1 for d in range(distance + 1)] + far + named
    degrees = [degree + 1 for degree in range(MAX_DEGREE + 1)]
    tensors = convert_blocks(state, case["layers"])
    tensors["node.atom"] = pick(state["atom_encoder.weight"], column_rows(ATOM_DIMS[features], 2))
    tensors["node.virtual_node"] = flat(state["graph_token.weight"])
    tensors["in_degree"] = pick(state["in_degree_encoder.weight"], degrees)
    tensors["out_degree"] = pick(state["out_degree_encoder.weight"], degrees)
    tensors["path.bond"] = pick(state["edge_encoder.weight"], column_rows(BOND_DIMS[features], 3))
    tensors["path.hop_weight"] = [hops, heads, heads], state["edge_dis_encoder.weight"][1][:hops * heads * heads]
    shape, rows = pick(state["spatial_pos_encoder.weight"], spatial)
    shape[0] += 1  # all pairs with token 0 share the last row
    tensors["encoder.spatial"] = shape, rows + state["graph_token_virtual_distance.weight"][1]
    head = "out_proj" if "out_proj.weight" in state else "downstream_out_proj"
    for part in ("weight", "bias"):
        tensors[f"head.linear.{part}"] = state[f"{head}.{part}"]
    return tensors, {"max_distance": distance, "path_hops": hops, "spatial_pos_max": case["spatial_pos_max"] or 0,
                     "max_degree": MAX_DEGREE}


def convert_grpe(state, case, gradients):
    features, hop, types = case["features"], case["max_hop"], case["num_edge_type"]
    copy = (lambda row: None) if gradients else (lambda row: row)
    task, unreachable = hop + 1, hop + 2
    topology = list(range(hop + 1)) + [copy(hop), unreachable, task, copy(task), copy(0)]
    edge_task, no_edge = types + 1, types + 3
    ids = [k if k < types else None for k in range(BOND_IDS[features])]
    edge = ids + [no_edge, copy(no_edge), edge_task, copy(no_edge)]
    tensors = convert_blocks(state, case["layers"])
    tensors["node.atom"] = pick(state["node_emb.weight"], column_rows(ATOM_DIMS[features], 1))
    tensors["node.virtual_node"] = flat(state["task_token.weight"])
    for part in ("query", "key", "value"):
        tensors[f"encoder.topology_{part}"] = pick(state[f"{part}_hop_emb.weight"], topology)
        tensors[f"encoder.edge_{part}"] = pick(state[f"{part}_edge_emb.weight"], edge)
    for part in ("weight", "bias"):
        tensors[f"head.linear.{part}"] = state[f"linear.{part}"]
    return tensors, {"max_distance": hop}


def main():
    source, target = map(pathlib.Path, sys.argv[1:3])
    case = json.loads((source / "case.json").read_text())
    convert = convert_grpe if case["kind"] == "grpe" else convert_graphormer
    target.mkdir(parents=True, exist_ok=True)
    for name in ("weights", "gradients"):
        tensors, sizes = convert(read_state_dict(source / f"{name}.pt"), case, name == "gradients")
        sizes.update({key: case[key] for key in ("features", "layers", "hidden", "ffn", "heads")})
        write_safetensors(target / f"{name}.safetensors", {key: str(value) for key, value in sizes.items()}, tensors)


if __name__ == "__main__":
    main()
