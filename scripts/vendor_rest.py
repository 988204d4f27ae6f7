#!/usr/bin/env python3
"""Adds to a repaired wheel the libraries that auditwheel assumes on every machine, and the licences.

    scripts/vendor_rest.py WHEEL OUT

auditwheel assumes that every machine has the X11 libraries that Cairo links (RDKit's drawing code). A server or
container does not have them. The Debian copyright file of every library is copied to molgraph/licences. Needs wheel and
patchelf on PATH.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

# Present on every Linux: glibc, and the compiler's libraries, of which the system's version is the newest.
SYSTEM = re.compile(r"^(ld-linux|linux-vdso|libc\.|libm\.|libdl\.|libpthread\.|librt\.|libresolv\.|libstdc\+\+|libgcc_s)")
TORCH = re.compile(r"^lib(torch|c10|cud|cupti)")


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def needed(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "-d", path))


def system_libraries():
    """Paths of this machine's libraries by soname."""
    pairs = re.findall(r"^\s*(\S+) \(.*x86-64.*\) => (\S+)$", output_of("/sbin/ldconfig", "-p"), re.M)
    return {name: path for name, path in reversed(pairs)}


def copyright_of(path):
    """Debian package of a library and the path of its copyright file."""
    real = os.path.realpath(path)
    for one in (real, real.replace("/usr/lib/", "/lib/", 1), path):
        done = subprocess.run(["dpkg", "-S", one], capture_output=True, text=True)
        if done.returncode == 0:
            package = done.stdout.split(":")[0]
            return package, f"/usr/share/doc/{package}/copyright"
    return None, None


def main():
    wheel, out = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["wheel", "unpack", "-d", folder, wheel], check=True, stdout=subprocess.DEVNULL)
        root = glob.glob(folder + "/*")[0]
        libs = root + "/molgraph.libs"
        licences = root + "/molgraph/licences"
        os.makedirs(licences)
        system = system_libraries()
        by_file = {os.path.basename(os.path.realpath(path)): path for path in system.values()}
        waiting = sorted(glob.glob(libs + "/*") + glob.glob(root + "/molgraph/bin/*") + glob.glob(root + "/molgraph/*.so"))
        while waiting:
            for name in needed(waiting.pop()):
                if SYSTEM.match(name) or TORCH.match(name) or os.path.exists(f"{libs}/{name}"):
                    continue
                if name not in system:
                    sys.exit(f"vendor_rest: {name} is needed but missing on this machine")
                shutil.copy(system[name], f"{libs}/{name}")
                subprocess.run(["patchelf", "--set-rpath", "$ORIGIN", f"{libs}/{name}"], check=True)
                waiting.append(f"{libs}/{name}")
        for path in glob.glob(libs + "/*"):  # auditwheel: libcurl-1a2b3c4d.so.4.8.0
            name = re.sub(r"-[0-9a-f]{8}(?=\.)", "", os.path.basename(path))
            package, text = copyright_of(by_file.get(name) or system.get(name) or name)
            if text and os.path.exists(text):
                shutil.copy(text, f"{licences}/{package}.txt")
            else:
                print(f"vendor_rest: no licence found for {name}", file=sys.stderr)
        subprocess.run(["wheel", "pack", "-d", out, root], check=True, stdout=subprocess.DEVNULL)


main()
