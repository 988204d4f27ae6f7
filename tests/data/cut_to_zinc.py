"""Reads a state dict of torch.save with OGB's columns, keeps the first 64 rows of its atom and bond tables (the size of those with
ZINC's columns) and writes safetensors: cut_to_zinc.py weights.pt OUT.safetensors. No library is needed."""
import json
import pickle
import struct
import sys
import zipfile


class Reader(pickle.Unpickler):
    def find_class(self, module, name):
        if name == "_rebuild_tensor_v2":
            return lambda storage, offset, shape, stride, *rest: (storage, offset, shape, stride)
        if name == "OrderedDict":
            return dict
        return name

    def persistent_load(self, key):
        return key[2]   # ("storage", type, key, device, count)


archive = zipfile.ZipFile(sys.argv[1])
root = archive.namelist()[0].split("/")[0]
tensors = {}
for name, (storage, offset, shape, stride) in Reader(archive.open(f"{root}/data.pkl")).load().items():
    count = 1
    for size in shape:
        count *= size
    data = archive.read(f"{root}/data/{storage}")[4 * offset:4 * (offset + count)]
    if len(shape) == 2 and shape[0] in (4609, 1537):
        data, shape = data[:4 * 64 * shape[1]], (64, shape[1])
    tensors[name] = (shape, data)
header, at = {}, 0
for name, (shape, data) in tensors.items():
    header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [at, at + len(data)]}
    at += len(data)
text = json.dumps(header).encode()
with open(sys.argv[2], "wb") as out:
    out.write(struct.pack("<Q", len(text)) + text + b"".join(data for _, data in tensors.values()))
