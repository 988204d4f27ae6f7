"""Measures a PyTorch model of the same size on the same batches, written as PyTorch users would; prints molecules/s.

    molgraph-bench --write-batches batches.safetensors
    python peer.py batches.safetensors --threads 2 [--compile] [--only grpe]
    molgraph-bench --batch-size 64 --write-batches wide.safetensors
    python peer.py wide.safetensors --threads 2 --width 768 --heads 32
    python peer.py batches.safetensors --device cuda --compile --json peer.json

On a GPU, all batches are padded to one size, so that `compiled` runs as a CUDA graph. There, fp32 uses tf32 in the products.

`molgraph-bench --peer` starts it with --serve and alternates its rounds with those of the engine. The script prints a line "ready" with the version of
PyTorch. For every number on standard input, it then prints a line of JSON with the seconds of that round, by variant: [training update, inference].

Written from the papers (Graphormer: Ying et al. 2021; GRPE: Park et al. 2022). Batches are padded; `grouped` splits a
batch by size first, which wastes less; the edge-path bias uses prefix sums instead of the published O(n^2 hops H^2) tensor.
Everything that does not depend on weights is prepared before the clock starts. AdamW is fused.
"""
import argparse
import json
import os
import signal
import statistics
import struct
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

LAYERS, FAR_G, FAR_R, HOPS = 12, 20, 5, 20
WIDTH, HEADS, DROPOUT = 80, 8, 0.1   # the command line sets these
MODELS = {"graphormer": (False, False), "graphormer+urpe": (False, True), "grpe": (True, False), "grpe+urpe": (True, True)}   # GRPE, gate


def read_safetensors(path):
    with open(path, "rb") as f:
        (length,) = struct.unpack("<Q", f.read(8))
        header = json.loads(f.read(length))
        data = f.read()
    kinds = {"I32": np.int32, "F32": np.float32}
    return {k: torch.from_numpy(np.frombuffer(data[v["data_offsets"][0]:v["data_offsets"][1]], kinds[v["dtype"]]).copy())
            for k, v in header.items() if k != "__metadata__"}


def pad(tensors, k, members, grpe, least=0):
    """Molecules `members` of batch k, padded to the largest (or `least` tokens): atom ids, degrees, classes, key mask, and path steps."""
    t = lambda name: tensors[f"{k}.{name}"].long()
    offset = t("token_offset")
    sizes = (offset[1:] - offset[:-1])
    pair_offset = torch.cat([torch.zeros(1, dtype=torch.long), (sizes * sizes).cumsum(0)])
    n = max(int(sizes[members].max()), least)
    count = len(members)
    atoms = torch.full((count, n), 28)
    degree = torch.zeros(count, n, dtype=torch.long)
    topology = torch.zeros(count, n, n, dtype=torch.long)
    edge = torch.zeros(count, n, n, dtype=torch.long)
    mask = torch.zeros(count, n, dtype=torch.bool)
    place = torch.full((int(pair_offset[-1]),), -1)
    far = FAR_R if grpe else FAR_G
    raw_t, raw_e = t("topology"), t("edge")
    for b, m in enumerate(members.tolist()):
        s = int(sizes[m])
        first = int(offset[m]) - m
        atoms[b, 1:s] = t("atoms")[first:first + s - 1]
        degree[b, 1:s] = t("degree")[first:first + s - 1]
        pairs = slice(int(pair_offset[m]), int(pair_offset[m]) + s * s)
        d = raw_t[pairs].view(s, s)
        topology[b, :s, :s] = torch.where(d < 65534, d.clamp(max=far + 1), torch.where(d == 65534, far + 2, far + 3))
        topology[b, 0, 0] = far + 5
        e = raw_e[pairs].view(s, s)
        edge[b, :s, :s] = torch.where(e < 250, e, e - 249)
        mask[b, :s] = True
        i, j = torch.meshgrid(torch.arange(s), torch.arange(s), indexing="ij")
        place[pairs] = ((b * n + i) * n + j).reshape(-1)
    steps = []
    if not grpe:
        pair, level_pairs, level_steps = t("paths.pair"), t("paths.level_pairs").tolist(), t("paths.level_steps").tolist()
        target, source, bond, weight = t("paths.target"), t("paths.source"), t("paths.bond"), tensors[f"{k}.paths.weight"]
        for m in range(1, len(level_pairs)):
            a, z = level_steps[m - 1], level_steps[m]
            to = place[pair[level_pairs[m - 1] + target[a:z]]]
            here = to >= 0
            back = place[pair[level_pairs[m - 2] + source[a:z]]] if m > 1 else torch.zeros_like(to)
            steps.append((to[here], back[here], bond[a:z][here], weight[a:z][here].unsqueeze(1), 1.0 / min(m, HOPS)))
    return atoms, degree, topology, edge, mask, steps


class Block(torch.nn.Module):
    def __init__(self, grpe, gate):
        super().__init__()
        self.norm1, self.norm2 = torch.nn.LayerNorm(WIDTH), torch.nn.LayerNorm(WIDTH)
        self.qkv, self.out = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(WIDTH, WIDTH)
        self.lin1, self.lin2 = torch.nn.Linear(WIDTH, WIDTH), torch.nn.Linear(WIDTH, WIDTH)
        self.grpe, self.gate = grpe, gate

    def forward(self, x, bias, gate, tables, topology, edge):
        b, n, _ = x.shape
        d = WIDTH // HEADS
        q, k, v = self.qkv(self.norm1(x)).view(b, n, 3, HEADS, d).permute(2, 0, 3, 1, 4)
        if not self.grpe and not self.gate:
            z = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, dropout_p=DROPOUT if self.training else 0.0)
        else:
            s = q @ k.transpose(2, 3)
            if self.grpe:
                t, e = topology.unsqueeze(1).expand(-1, HEADS, -1, -1), edge.unsqueeze(1).expand(-1, HEADS, -1, -1)
                pq, eq, pk, ek, pv, ev = tables
                s = s + (q @ pq).gather(3, t) + (q @ eq).gather(3, e)
                s = s + ((k @ pk).gather(3, t.transpose(2, 3)) + (k @ ek).gather(3, e.transpose(2, 3))).transpose(2, 3)
            w = (s * d ** -0.5 + bias).softmax(3)
            if self.gate:
                w = w * gate
            w = F.dropout(w, DROPOUT, self.training)
            z = w @ v
            if self.grpe:
                zeros = torch.zeros(b, HEADS, n, pv.shape[1], dtype=w.dtype)
                z = z + zeros.scatter_add(3, t, w) @ pv
                z = z + torch.zeros(b, HEADS, n, ev.shape[1], dtype=w.dtype).scatter_add(3, e, w) @ ev
        x = x + F.dropout(self.out(z.transpose(1, 2).reshape(b, n, WIDTH)), DROPOUT, self.training)
        return x + F.dropout(self.lin2(F.gelu(self.lin1(self.norm2(x)))), DROPOUT, self.training)


class Model(torch.nn.Module):
    def __init__(self, grpe, gate):
        super().__init__()
        classes = (FAR_R if grpe else FAR_G) + 6
        self.grpe, self.gate_on = grpe, gate
        self.atom, self.degree = torch.nn.Embedding(29, WIDTH), torch.nn.Embedding(64, WIDTH)
        self.bias = torch.nn.Parameter(torch.randn(classes, HEADS) * 0.02)
        self.gate = torch.nn.Parameter(torch.ones(classes, HEADS))
        self.bond = torch.nn.Parameter(torch.randn(4, HEADS) * 0.02)
        self.hop = torch.nn.Parameter(torch.randn(HOPS, HEADS, HEADS) * 0.02)
        d = WIDTH // HEADS
        sizes = [(d, classes), (d, 8)] * 2 + [(classes, d), (8, d)]
        self.tables = torch.nn.ParameterList([torch.nn.Parameter(torch.randn(HEADS, *s) * 0.02) for s in sizes])
        self.blocks = torch.nn.ModuleList(Block(grpe, gate) for _ in range(LAYERS))
        self.norm, self.head = torch.nn.LayerNorm(WIDTH), torch.nn.Linear(WIDTH, 1)

    def path_bias(self, steps, pairs):
        table = self.bond @ self.hop   # [hops, bonds, H]
        total = torch.zeros(pairs, HEADS)
        parts, places, below = [], [], None
        for m, (to, back, bond, weight, share) in enumerate(steps):
            step = table[m][bond] if m < HOPS else 0
            if m:
                step = step + below.index_select(0, back)
            below = torch.zeros(pairs, HEADS).index_add(0, to, step * weight)
            total = total + below * share
        return total

    def forward(self, atoms, degree, topology, edge, mask, steps):
        b, n = atoms.shape
        x = self.atom(atoms)
        bias = torch.zeros(b, 1, 1, n).masked_fill(~mask.view(b, 1, 1, n), float("-inf"))
        if not self.grpe:
            x = x + self.degree(degree)
            path = self.path_bias(steps, b * n * n).view(b, n, n, HEADS)
            bias = bias + (self.bias[topology] + path).permute(0, 3, 1, 2)
        gate = self.gate[topology].permute(0, 3, 1, 2) if self.gate_on else None
        for block in self.blocks:
            x = block(x, bias, gate, self.tables, topology, edge)
        return self.head(self.norm(x[:, 0]))


def on(device, part):
    move = lambda x: tuple(move(y) for y in x) if isinstance(x, tuple) else x.to(device) if torch.is_tensor(x) else x
    return tuple([move(s) for s in x] if isinstance(x, list) else move(x) for x in part)


def write(path, report):
    """Writes the figures so far. The file is complete at any time."""
    with open(path + ".part", "w") as f:
        json.dump(report, f, indent=2)
    os.replace(path + ".part", path)


def wait(device):
    if device == "cuda":
        torch.cuda.synchronize()


def peak(device):
    """The peak of the GPU: TFLOP/s of a large bf16 product, GB/s of a copy."""
    a = torch.randn(8192, 8192, device=device, dtype=torch.bfloat16)
    b = torch.empty(1 << 30, dtype=torch.uint8, device=device)
    result = []
    for work, amount in ((lambda: a @ a, 2 * 8192 ** 3 / 1e12), (lambda: b.clone(), 2 * b.numel() / 1e9)):
        for _ in range(3):
            work()
        wait(device)
        start = time.perf_counter()
        for _ in range(20):
            work()
        wait(device)
        result.append(20 * amount / (time.perf_counter() - start))
    return result


class Variant:
    """A model with its optimizer and batches, in `groups` parts by size; round(r) takes one of them."""

    def __init__(self, batches, grpe, gate, groups, compiled=False, bf16=False, device="cpu"):
        self.device, self.bf16 = device, bf16
        gpu = device == "cuda"
        self.model = Model(grpe, gate).to(device)
        self.run = self.model
        if compiled:
            self.run = torch.compile(self.model, mode="reduce-overhead", dynamic=False) if gpu else torch.compile(self.model, dynamic=True)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, fused=True)
        self.prepared = []
        offsets = [name for name in batches if name.endswith("token_offset")]
        least = max(int(batches[name].diff().max()) for name in offsets) if gpu else 0
        for k in range(len(offsets)):
            order = batches[f"{k}.token_offset"].diff().argsort()
            with torch.device("cpu"):
                parts = [pad(batches, k, part, grpe, least) for part in order.chunk(groups)]
            self.prepared.append([on(device, part) for part in parts])
        self.molecules = sum(part[0].shape[0] for part in self.prepared[0])

    def round(self, r):
        """Seconds of a training update and of inference."""
        with torch.autocast(self.device, torch.bfloat16, enabled=self.bf16):
            parts = self.prepared[r % len(self.prepared)]
            self.model.train()
            wait(self.device)
            start = time.perf_counter()
            self.optimizer.zero_grad()
            for part in parts:
                (self.run(*part).abs().sum() / self.molecules).backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
            self.optimizer.step()
            wait(self.device)
            train = time.perf_counter() - start
            self.model.eval()
            with torch.inference_mode():
                start = time.perf_counter()
                for part in parts:
                    self.run(*part)
                wait(self.device)
            return train, time.perf_counter() - start


def measure(variant, rounds):
    """Molecules per second in training and inference, the median of all rounds after the first two."""
    train, infer = zip(*[variant.round(r) for r in range(rounds + 2)])
    return variant.molecules / statistics.median(train[2:]), variant.molecules / statistics.median(infer[2:])


def compiled_in_time(variant, seconds):
    """Whether the first rounds of the compiled model end in time. Each batch may need its own graph."""
    def stop(*_):
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    start = time.perf_counter()
    try:
        for k in range(len(variant.prepared)):
            variant.round(k)
        return True
    except Exception as error:   # the timeout, which the compiler often wraps, or an error of the compiler
        late = time.perf_counter() - start >= seconds
        print("peer.py: compiled is skipped: " + (f"not ready in {seconds} s" if late else repr(error)[:2000]), file=sys.stderr)
        return False
    finally:
        signal.alarm(0)


def serve(batches, model, compile_seconds):
    grpe, gate = MODELS[model]
    variants = {"eager": Variant(batches, grpe, gate, 1), "eager, 4 groups": Variant(batches, grpe, gate, 4),
                "bf16": Variant(batches, grpe, gate, 1, bf16=True), "bf16, 4 groups": Variant(batches, grpe, gate, 4, bf16=True)}
    if compile_seconds:
        compiled = Variant(batches, grpe, gate, 4, compiled=True)
        if compiled_in_time(compiled, compile_seconds):
            variants["compiled, 4 groups"] = compiled
    first = {name: variant.round(0) for name, variant in variants.items()}
    for name in first:   # bf16 without support by the processor is not competitive, and a round takes minutes
        if all(first[name][k] > 3 * min(other[k] for other in first.values()) for k in (0, 1)):
            print(f"peer.py: {name} is skipped: over three times slower than the fastest", file=sys.stderr)
            del variants[name]
    print(json.dumps({"ready": torch.__version__}), flush=True)
    for line in sys.stdin:
        print(json.dumps({name: variant.round(int(line)) for name, variant in variants.items()}), flush=True)


def main():
    global WIDTH, HEADS, DROPOUT
    parser = argparse.ArgumentParser()
    parser.add_argument("batches")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--compile", action="store_true", help="also torch.compile (takes minutes)")
    parser.add_argument("--width", type=int, default=WIDTH)
    parser.add_argument("--heads", type=int, default=HEADS)
    parser.add_argument("--dropout", type=float, default=DROPOUT)
    parser.add_argument("--only", choices=list(MODELS), help="measure only this model")
    parser.add_argument("--serve", action="store_true", help="with --only: measure one round per line of standard input")
    parser.add_argument("--compile-seconds", type=int, default=0, help="with --serve: also torch.compile, if it finishes in this time")
    parser.add_argument("--bf16", action="store_true", help="use autocast to bfloat16")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--json", help="write the figures to this file, after each case")
    arguments = parser.parse_args()
    if arguments.serve and arguments.only is None:
        parser.error("--serve needs --only")
    WIDTH, HEADS, DROPOUT = arguments.width, arguments.heads, arguments.dropout
    torch.set_num_threads(arguments.threads)
    batches = read_safetensors(arguments.batches)
    torch.set_default_device(arguments.device)
    torch.backends.cuda.matmul.allow_tf32 = True
    torch._dynamo.config.cache_size_limit = 64   # one graph per batch: the numbers of path steps differ
    if arguments.serve:
        return serve(batches, arguments.only, arguments.compile_seconds)
    report = {"torch": torch.__version__, "width": WIDTH, "bf16": arguments.bf16, "cases": {}}
    if arguments.device == "cuda":
        report["bf16_tflops"], report["copy_gbps"] = peak("cuda")
        print(f"{torch.cuda.get_device_name()}: bf16 product {report['bf16_tflops']:.0f} TFLOP/s, copy {report['copy_gbps']:.0f} GB/s")
    print(f"PyTorch {torch.__version__}, {arguments.threads} threads, {LAYERS} x {WIDTH}, dropout {DROPOUT} in training, "
          f"{'bf16 by autocast' if arguments.bf16 else 'fp32'}; molecules/s")
    for name, (grpe, gate) in MODELS.items():
        if arguments.only not in (None, name):
            continue
        for compiled in ([False, True] if arguments.compile else [False]):
            for groups in (1, 4):
                if arguments.device == "cuda" and groups > 1:
                    continue   # on a GPU, small launches cost more than padding
                train, infer = measure(Variant(batches, grpe, gate, groups, compiled, arguments.bf16, arguments.device), arguments.rounds)
                report["cases"][f"{name}, {'compiled' if compiled else 'eager'}, {groups} group(s)"] = {"train": train, "infer": infer}
                print(f"{name:16} {'compiled' if compiled else 'eager':9} {groups} group(s): train {train:6.0f}  infer {infer:6.0f}", flush=True)
                if arguments.json:
                    write(arguments.json, report)


if __name__ == "__main__":
    main()
