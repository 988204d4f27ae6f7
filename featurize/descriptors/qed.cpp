// Quantitative estimate of drug-likeness: Bickerton et al. 2012, Nat. Chem. 4:90 (doi:10.1038/nchem.1243).
#include <GraphMol/GraphMol.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "featurize/descriptors/families.hpp"
#include "featurize/descriptors/slots.hpp"

namespace molgraph::descriptors {
namespace {

/// An asymmetric double sigmoid divided by its maximum, and the weight of its logarithm in the mean.
struct Desirability {
  double a, b, c, d, e, f, maximum, weight;
  double of(double x) const {
    const double rise = 1 + std::exp(-(x - c + d / 2) / e), fall = 1 + std::exp(-(x - c - d / 2) / f);
    return (a + b / rise * (1 - 1 / fall)) / maximum;
  }
};

// Fitted parameters and mean weights of the paper's table, in the order of `properties` below.
constexpr Desirability kDesirabilities[] = {
    {2.817065973, 392.5754953, 290.7489764, 2.419764353, 49.22325677, 65.37051707, 104.9805561, 0.66},
    {3.172690585, 137.8624751, 2.534937431, 4.581497897, 0.822739154, 0.576295591, 131.3186604, 0.46},
    {2.948620388, 160.4605972, 3.615294657, 4.435986202, 0.290141953, 1.300669958, 148.7763046, 0.05},
    {1.618662227, 1010.051101, 0.985094388, 0.000000001, 0.713820843, 0.920922555, 258.1632616, 0.61},
    {1.876861559, 125.2232657, 62.90773554, 87.83366614, 12.01999824, 28.51324732, 104.5686167, 0.06},
    {0.010000000, 272.4121427, 2.558379970, 1.565547684, 1.271567166, 2.758063707, 105.4420403, 0.65},
    {3.217788970, 957.7374108, 2.274627939, 0.000000001, 1.317690384, 0.375760881, 312.3372610, 0.48},
    {0.010000000, 1199.094025, -0.09002883, 0.000000001, 0.185904477, 0.875193782, 417.7253140, 0.95}};

/// Number of rings that remain after removing every aliphatic ring atom with an aliphatic neighbour. The paper's
/// program deletes [$([A;R][!a])] and counts the smallest set of rings of the rest, which has bonds - atoms + fragments
/// rings. If nothing is deleted, it uses the rings that RDKit has already found, including rings of equal size that a
/// smallest set leaves out.
int aromatic_rings(const Work& work) {
  const CompactMolecule& molecule = work.molecule;
  const std::size_t n = molecule.size();
  thread_local std::vector<std::uint16_t> root;
  thread_local std::vector<char> kept;
  root.resize(n);
  std::iota(root.begin(), root.end(), std::uint16_t{0});
  kept.assign(n, 1);
  for (std::size_t i = 0; i < n; ++i) {
    if (molecule.atoms[i].aromatic || molecule.atoms[i].rings == 0) continue;
    for (const Arc* arc = molecule.begin(i); arc != molecule.end(i); ++arc) {
      const std::uint8_t type = molecule.bonds[arc->bond].type;
      if (!molecule.atoms[arc->atom].aromatic && (type == kSingle || type == kAromatic)) kept[i] = 0;
    }
  }
  if (std::find(kept.begin(), kept.end(), 0) == kept.end())
    return static_cast<int>(work.rdkit->getRingInfo()->numRings());
  const auto find = [](std::uint16_t atom) {
    while (root[atom] != atom) atom = root[atom] = root[root[atom]];
    return atom;
  };
  int rings = 0;
  for (const BondFacts& bond : molecule.bonds) {
    if (kept[bond.begin] == 0 || kept[bond.end] == 0) continue;
    const std::uint16_t a = find(bond.begin), b = find(bond.end);
    rings += a == b;  // a bond inside one tree closes a ring
    root[a] = b;
  }
  return rings;
}

}  // namespace

void write_qed(Work& work, const CountedPatterns& patterns, double* row) {
  int acceptors = 0, alerts = 0;
  for (const int pattern : patterns.qed_acceptors) acceptors += patterns.count(work.matcher, *work.rdkit, pattern);
  for (const int pattern : patterns.qed_alerts) alerts += work.matcher.exists(pattern);
  const double properties[] = {work.weight,
                               work.logp_sum,
                               static_cast<double>(acceptors),
                               static_cast<double>(work.donors),
                               work.polar_area,
                               static_cast<double>(work.rotatable),
                               static_cast<double>(aromatic_rings(work)),
                               static_cast<double>(alerts)};
  double sum = 0, weights = 0;
  for (std::size_t k = 0; k < std::size(properties); ++k) {
    sum += kDesirabilities[k].weight * std::log(kDesirabilities[k].of(properties[k]));
    weights += kDesirabilities[k].weight;
  }
  row[slot("qed")] = std::exp(sum / weights);
}

}  // namespace molgraph::descriptors
