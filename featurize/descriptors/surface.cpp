// Surface areas of atoms and their sums binned by another property.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "featurize/descriptors/families.hpp"
#include "featurize/descriptors/slots.hpp"

namespace molgraph::descriptors {
namespace {

/// Part of an atom's area of radius `r` hidden by a neighbour at distance `d`: Labute 2000, J. Mol. Graph. Model.
/// 18:464.
double hidden(double other, double r, double d) { return other * other - (r - d) * (r - d) / d; }

/// Difference between the sum of the radii and the bond length, angstrom. RDKit has no values for orders above 3.
double shortening(const BondFacts& bond) {
  if (bond.aromatic) return 0.1;
  switch (bond.type) {
    case 0: return 0.1;
    case kDouble: return 0.2;
    case kTriple: return 0.3;
    default: return 0.0;
  }
}

double bonded_distance(double a, double b, double shorter) {
  return std::min(std::max(std::abs(a - b), a + b - shorter), a + b);
}

// Lower ends of RDKit's bins. The charge bins are Labute's.
constexpr std::array kLogpBins{-0.4, -0.2, 0.0, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6};
constexpr std::array kRefractivityBins{1.29, 1.82, 2.24, 2.45, 2.75, 3.05, 3.63, 3.8, 4.0};
constexpr std::array kChargeBins{-0.3, -0.25, -0.2, -0.15, -0.1, -0.05, 0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3};
constexpr std::array kEstateBins{-0.39, 0.29, 0.717, 1.165, 1.54, 1.807, 2.05, 4.69, 9.17, 15.0};
constexpr std::array kAreaBins{4.78, 5.0, 5.41, 5.74, 6.0, 6.07, 6.45, 7.0, 11.0};

/// row[slots[bin]] = sum of `value` over the atoms whose `property` is in that bin. A property that is not a number is
/// in the last bin.
template <std::size_t ends>
void write_bins(const std::array<double, ends>& bins, const std::vector<double>& property,
                const std::vector<double>& value, const std::array<std::size_t, ends + 1>& slots, double* row) {
  std::array<double, ends + 1> sums{};
  for (std::size_t i = 0; i < property.size(); ++i) {
    const auto bin = std::upper_bound(bins.begin(), bins.end(), property[i]) - bins.begin();
    sums[static_cast<std::size_t>(bin)] += value[i];
  }
  for (std::size_t bin = 0; bin < sums.size(); ++bin) row[slots[bin]] = sums[bin];
}

/// A nitrogen or oxygen with the properties in the table of polar surface areas. Hydrogens do not count as neighbours
/// there.
struct PolarAtom {
  int neighbours = 0, hydrogens = 0;
  std::int8_t charge = 0;
  int single = 0, twofold = 0, threefold = 0, aromatic = 0;
};

/// A row of Ertl's table. -1 matches any number; small_ring: in a three-membered ring.
struct PolarType {
  int neighbours, hydrogens, charge, single, twofold, threefold, aromatic;
  double area;
  double area_in_small_ring = -1;

  bool is(const PolarAtom& atom) const {
    const auto same = [](int wanted, int has) { return wanted < 0 || wanted == has; };
    return neighbours == atom.neighbours && hydrogens == atom.hydrogens && charge == atom.charge &&
           same(single, atom.single) && same(twofold, atom.twofold) && same(threefold, atom.threefold) &&
           same(aromatic, atom.aromatic);
  }
};

constexpr PolarType kNitrogens[] = {
    {1, 0, 0, -1, -1, 1, -1, 23.79}, {1, 1, 0, -1, 1, -1, -1, 23.85},        {1, 2, 0, 1, -1, -1, -1, 26.02},
    {1, 2, 1, -1, 1, -1, -1, 25.59}, {1, 3, 1, 1, -1, -1, -1, 27.64},        {2, 0, 0, 1, 1, -1, -1, 12.36},
    {2, 0, 0, -1, 1, 1, -1, 13.60},  {2, 1, 0, 2, -1, -1, -1, 12.03, 21.94}, {2, 0, 1, 1, -1, 1, -1, 4.36},
    {2, 1, 1, 1, 1, -1, -1, 13.97},  {2, 2, 1, 2, -1, -1, -1, 16.61},        {2, 0, 0, -1, -1, -1, 2, 12.89},
    {2, 1, 0, -1, -1, -1, 2, 15.79}, {2, 1, 1, -1, -1, -1, 2, 14.14},        {3, 0, 0, 3, -1, -1, -1, 3.24, 3.01},
    {3, 0, 0, 1, 2, -1, -1, 11.68},  {3, 0, 1, 2, 1, -1, -1, 3.01},          {3, 1, 1, 3, -1, -1, -1, 4.44},
    {3, 0, 0, -1, -1, -1, 3, 4.41},  {3, 0, 0, 1, -1, -1, 2, 4.93},          {3, 0, 0, -1, 1, -1, 2, 8.39},
    {3, 0, 1, -1, -1, -1, 3, 4.10},  {3, 0, 1, 1, -1, -1, 2, 3.88},          {4, 0, 1, 4, -1, -1, -1, 0.0}};
constexpr PolarType kOxygens[] = {{1, 0, 0, -1, 1, -1, -1, 17.07},
                                  {1, 1, 0, 1, -1, -1, -1, 20.23},
                                  {1, 0, -1, 1, -1, -1, -1, 23.06},
                                  {2, 0, 0, 2, -1, -1, -1, 9.23, 12.53},
                                  {2, 0, 0, -1, -1, -1, 2, 13.14}};

PolarAtom polar_atom(const CompactMolecule& molecule, std::size_t i) {
  const AtomFacts& facts = molecule.atoms[i];
  PolarAtom atom;
  atom.hydrogens = facts.all_hydrogens;
  atom.charge = facts.charge;
  for (const Arc* arc = molecule.begin(i); arc != molecule.end(i); ++arc) {
    if (molecule.atoms[arc->atom].number == 1) continue;
    ++atom.neighbours;
    const BondFacts& bond = molecule.bonds[arc->bond];
    if (bond.aromatic) {
      ++atom.aromatic;
    } else {
      atom.single += bond.type == kSingle;
      atom.twofold += bond.type == kDouble;
      atom.threefold += bond.type == kTriple;
    }
  }
  return atom;
}

/// Three atoms bonded to each other are a three-membered ring in every set of smallest rings.
bool in_small_ring(const CompactMolecule& molecule, std::size_t i) {
  for (const Arc* one = molecule.begin(i); one != molecule.end(i); ++one)
    for (const Arc* two = molecule.begin(one->atom); two != molecule.end(one->atom); ++two)
      for (const Arc* back = molecule.begin(two->atom); back != molecule.end(two->atom); ++back)
        if (two->atom != i && back->atom == i) return true;
  return false;
}

template <std::size_t types>
double polar_area(const CompactMolecule& molecule, std::size_t i, const PolarType (&table)[types], double base,
                  double per_neighbour) {
  const PolarAtom atom = polar_atom(molecule, i);
  for (const PolarType& type : table) {
    if (!type.is(atom)) continue;
    return type.area_in_small_ring >= 0 && in_small_ring(molecule, i) ? type.area_in_small_ring : type.area;
  }
  return std::max(0.0, base - per_neighbour * atom.neighbours + 1.5 * atom.hydrogens);
}

}  // namespace

double polar_surface(const Work& work) {
  double sum = 0;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const int number = work.molecule.atoms[i].number;
    if (number == 7) sum += polar_area(work.molecule, i, kNitrogens, 30.5, 8.2);
    if (number == 8) sum += polar_area(work.molecule, i, kOxygens, 28.5, 8.6);
  }
  return sum;
}

void labute_areas(Work& work) {
  const CompactMolecule& molecule = work.molecule;
  const double hydrogen = elements()[1].radius;
  work.area.assign(work.size(), 0.0);
  for (const BondFacts& bond : molecule.bonds) {
    const double a = elements()[molecule.atoms[bond.begin].number].radius;
    const double b = elements()[molecule.atoms[bond.end].number].radius;
    const double distance = bonded_distance(a, b, shortening(bond));
    work.area[bond.begin] += hidden(b, a, distance);
    work.area[bond.end] += hidden(a, b, distance);
  }
  // RDKit's form of the formula: one hydrogen at every atom, whatever its number of hydrogens.
  double hidden_hydrogen = 0;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const double radius = elements()[molecule.atoms[i].number].radius;
    const double distance = bonded_distance(radius, hydrogen, 0.0);
    const double covered = work.area[i] + hidden(hydrogen, radius, distance);
    hidden_hydrogen += hidden(radius, hydrogen, distance);
    work.area[i] = std::numbers::pi * radius * (4.0 * radius - covered);
  }
  // Dummy atoms have no radius. If there are no other atoms, there is no hydrogen area either.
  work.hydrogen_area = hidden_hydrogen == 0 ? 0 : std::numbers::pi * hydrogen * (4.0 * hydrogen - hidden_hydrogen);
}

void write_surface(Work& work, double* row) {
  double sum = 0;
  for (const double area : work.area) sum += area;
  row[slot("LabuteASA")] = sum + work.hydrogen_area;
  work.polar_area = polar_surface(work);
  row[slot("TPSA")] = work.polar_area;
  row[slot("MolLogP")] = work.logp_sum;
  row[slot("MolMR")] = work.refractivity_sum;
  write_bins(kLogpBins, work.logp, work.area, numbered_slots<12>("SlogP_VSA"), row);
  write_bins(kRefractivityBins, work.refractivity, work.area, numbered_slots<10>("SMR_VSA"), row);
  write_bins(kChargeBins, work.charge, work.area, numbered_slots<14>("PEOE_VSA"), row);
  write_bins(kEstateBins, work.estate, work.area, numbered_slots<11>("EState_VSA"), row);
  write_bins(kAreaBins, work.area, work.estate, numbered_slots<10>("VSA_EState"), row);
}

}  // namespace molgraph::descriptors
