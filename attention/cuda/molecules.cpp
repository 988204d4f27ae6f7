#include "attention/cuda/molecules.hpp"

#include <algorithm>

#include "attention/spec/node_positions.hpp"
#include "attention/spec/pair_vector.hpp"
#include "attention/spec/resistance.hpp"
#include "attention/spec/terms.hpp"

namespace molgraph::cuda {
namespace {

// Size classes by largest number of tokens. Molecules of one class share a launch, which has memory for the largest
// one.
constexpr std::int32_t kTokenClasses[] = {32, 64, 1 << 20};
// Half warps get a separate launch if they are large enough for at least this fraction of the molecules.
constexpr double kHalfWarpShare = 0.3;

/// Appends MoleculeArrays::pair_walks of molecule b, which has n tokens: from [column, key, query].
void append_pair_walks(const GraphBatch& batch, std::int64_t b, std::size_t n, const PairVector& vector,
                       std::vector<float>& to) {
  const auto steps = static_cast<std::size_t>(vector.size());
  std::vector<float> by_step(n * n * steps);
  pair_vectors(batch, b, vector, by_step.data());
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t first = 0; first < steps; first += 4)
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t t = first; t < first + 4; ++t) to.push_back(t < steps ? by_step[(t * n + j) * n + i] : 0.0f);
}

/// Returns true if the arrays were made for a model with path terms.
bool paths_of(const MoleculeArrays& molecules) { return !molecules.distance.empty(); }

}  // namespace

void MoleculeArrays::append(const GraphBatch& batch, const ModelPlan& plan) {
  const ClassRule& rule = plan.classes;
  const EncoderOptions& o = plan.encoder;
  const std::vector<RelationTable> tables = relation_tables(o);
  const bool edges = std::any_of(tables.begin(), tables.end(),
                                 [](const RelationTable& t) { return t.row == RelationTable::Row::edge; });
  const std::vector<PairTerm> terms = pair_terms(plan);
  const auto has = [&](PairTerm::Kind kind) {
    return std::any_of(terms.begin(), terms.end(), [&](const PairTerm& t) { return t.kind == kind; });
  };
  const bool paths = has(PairTerm::Kind::path), walks_wanted = has(PairTerm::Kind::absolute);
  const bool resistances = has(PairTerm::Kind::resistance),
             between_atoms = has(PairTerm::Kind::walk) || has_walk_rows(o.terms);
  const PairVector vector = o.pair_vector();
  const auto columns = static_cast<std::size_t>(feature_shape(batch.features).atom_columns);
  RelationNumbers numbers(rule, edges);
  std::vector<double> rows;
  for (std::size_t b = 0; b < static_cast<std::size_t>(batch.size()); ++b) {
    const auto first_atom = static_cast<std::size_t>(batch.atom_offset[b]),
               last_atom = static_cast<std::size_t>(batch.atom_offset[b + 1]);
    const std::size_t count = last_atom - first_atom, n = count + 1;
    Entry entry{static_cast<std::uint32_t>(batch.row[b]),
                static_cast<std::int32_t>(n),
                0,
                0,
                static_cast<std::int64_t>(degree.size()),
                static_cast<std::int64_t>(relation.size()),
                static_cast<std::int64_t>(classes.size()),
                static_cast<std::int64_t>(inputs.size())};
    atoms.insert(atoms.end(), batch.atoms.begin() + static_cast<std::ptrdiff_t>(first_atom * columns),
                 batch.atoms.begin() + static_cast<std::ptrdiff_t>(last_atom * columns));
    degree.insert(degree.end(), batch.degree.begin() + static_cast<std::ptrdiff_t>(first_atom),
                  batch.degree.begin() + static_cast<std::ptrdiff_t>(last_atom));
    const std::ptrdiff_t input_count = plan.head.inputs;
    const auto first_input = batch.inputs.begin() + static_cast<std::ptrdiff_t>(b) * input_count;
    inputs.insert(inputs.end(), first_input, first_input + input_count);
    const std::uint16_t* topology = batch.topology.data() + batch.pair_offset[b];
    const std::uint8_t* edge = batch.edge.data() + batch.pair_offset[b];
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < n; ++i) {
        const auto qi = static_cast<std::int64_t>(i), kj = static_cast<std::int64_t>(j);
        const std::uint16_t raw = topology[i * n + j];
        relation.push_back(numbers.of(rule, qi, kj, raw, edge[i * n + j]));
        if (rule.forbidden_distance > 0) forbidden.push_back(rule.forbidden(qi, kj, raw));
        if (!paths) continue;
        distance.push_back(raw);
        if (raw != kUnreachable && raw != kVirtual) entry.longest = std::max<std::int32_t>(entry.longest, raw);
      }
    entry.relations = static_cast<std::int32_t>(numbers.met().size());
    classes.insert(classes.end(), numbers.met().begin(), numbers.met().end());
    numbers.clear();
    for (std::size_t j = 1; paths && j < n; ++j) {
      for (std::size_t u = 1; u < n; ++u) {
        if (edge[u * n + j] >= kNoEdge) continue;
        partner.push_back(static_cast<std::uint16_t>(u));
        bond.push_back(edge[u * n + j]);
      }
      first_bond.push_back(static_cast<std::int32_t>(partner.size()));
    }
    const auto append_positions = [&](NodePosition kind, std::vector<float>& to) {
      rows.assign(count * static_cast<std::size_t>(vector.size()), 0.0);
      const auto molecule = static_cast<std::int64_t>(b);
      if (kind == NodePosition::random_walk) atom_vectors(batch, molecule, vector, rows.data());
      else laplacian_positions(batch, molecule, vector.size(), rows.data());
      to.insert(to.end(), rows.begin(), rows.end());
    };
    if (o.position != NodePosition::none) append_positions(o.position, positions);
    if (walks_wanted) append_positions(NodePosition::random_walk, walks);
    if (resistances) {  // symmetric: query and key are interchangeable
      rows.resize(count * count);
      resistance_distances(batch, static_cast<std::int64_t>(b), rows.data());
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t i = 0; i < n; ++i)
          resistance.push_back(i == 0 || j == 0 ? -1.0f : static_cast<float>(rows[(j - 1) * count + i - 1]));
    }
    if (between_atoms) append_pair_walks(batch, static_cast<std::int64_t>(b), n, vector, pair_walks);
    entries.push_back(entry);
  }
}

void MoleculeArrays::append(const MoleculeArrays& from, std::int64_t number) {
  const Entry& of = from.entries[static_cast<std::size_t>(number)];
  const std::int64_t count = of.tokens - 1, pair_count = static_cast<std::int64_t>(of.tokens) * of.tokens;
  const std::int64_t bond_at = paths_of(from) ? from.first_bond[static_cast<std::size_t>(of.atom_at)] : 0;
  const auto bonds_here = static_cast<std::int32_t>(partner.size());
  entries.push_back({of.row, of.tokens, of.relations, of.longest, static_cast<std::int64_t>(degree.size()),
                     static_cast<std::int64_t>(relation.size()), static_cast<std::int64_t>(classes.size()),
                     static_cast<std::int64_t>(inputs.size())});
  const auto part = [](auto& to, const auto& all, std::int64_t first, std::int64_t length) {
    if (!all.empty()) to.insert(to.end(), all.begin() + first, all.begin() + first + length);
  };
  const auto part_by_atom = [&](auto& to, const auto& all) {
    const auto columns = static_cast<std::int64_t>(all.size() / from.degree.size());
    part(to, all, of.atom_at * columns, count * columns);
  };
  part_by_atom(atoms, from.atoms);
  part_by_atom(degree, from.degree);
  part_by_atom(positions, from.positions);
  part_by_atom(walks, from.walks);
  part(inputs, from.inputs, of.input_at, static_cast<std::int64_t>(from.inputs.size() / from.entries.size()));
  part(relation, from.relation, of.pair_at, pair_count);
  part(forbidden, from.forbidden, of.pair_at, pair_count);
  part(distance, from.distance, of.pair_at, pair_count);
  part(resistance, from.resistance, of.pair_at, pair_count);
  const auto per_pair = static_cast<std::int64_t>(from.pair_walks.size() / from.relation.size());
  part(pair_walks, from.pair_walks, of.pair_at * per_pair, pair_count * per_pair);
  part(classes, from.classes, of.relation_at, of.relations);
  if (!paths_of(from)) return;
  for (std::int64_t j = 1; j <= count; ++j)
    first_bond.push_back(bonds_here + from.first_bond[static_cast<std::size_t>(of.atom_at + j)] -
                         static_cast<std::int32_t>(bond_at));
  const std::int64_t bonds = from.first_bond[static_cast<std::size_t>(of.atom_at + count)] - bond_at;
  part(partner, from.partner, bond_at, bonds);
  part(bond, from.bond, bond_at, bonds);
}

void MoleculeArrays::clear() {
  entries.clear();
  for (auto* array : {&atoms, &forbidden, &bond}) array->clear();
  for (auto* array : {&relation, &distance, &partner}) array->clear();
  for (auto* array : {&positions, &walks, &inputs, &resistance, &pair_walks}) array->clear();
  degree.clear();
  classes.clear();
  first_bond.assign(1, 0);
}

std::size_t MoleculeArrays::bytes() const {
  const auto of = [](const auto& array) { return array.size() * sizeof(array[0]); };
  return of(atoms) + of(degree) + of(relation) + of(classes) + of(forbidden) + of(distance) + of(first_bond) +
         of(partner) + of(bond) + of(positions) + of(walks) + of(inputs) + of(resistance) + of(pair_walks);
}

std::size_t ResidentMolecules::class_of(std::int32_t tokens) const {
  std::size_t k = 0;
  while (tokens > limits_[k]) ++k;
  return k;
}

void ResidentMolecules::classify(const std::vector<MoleculeArrays::Entry>& all) {
  const auto small = std::count_if(all.begin(), all.end(), [](const auto& e) { return e.tokens <= kHalfWarp; });
  limits_.assign(std::begin(kTokenClasses), std::end(kTokenClasses));
  if (static_cast<double>(small) >= kHalfWarpShare * static_cast<double>(all.size()))
    limits_.insert(limits_.begin(), kHalfWarp);
  largest_.assign(limits_.size(), {});
  for (const MoleculeArrays::Entry& e : all) {
    Largest& most = largest_[class_of(e.tokens)];
    most = {std::max(most.tokens, e.tokens), std::max(most.relations, e.relations)};
  }
}

template <class Visit>
void ResidentMolecules::visit_arrays(const MoleculeArrays& from, const Visit& visit) {
  visit(atoms_, from.atoms);
  visit(degree_, from.degree);
  visit(relation_, from.relation);
  visit(classes_, from.classes);
  visit(forbidden_, from.forbidden);
  visit(distance_, from.distance);
  visit(first_bond_, from.first_bond);
  visit(partner_, from.partner);
  visit(bond_, from.bond);
  visit(positions_, from.positions);
  visit(walks_, from.walks);
  visit(inputs_, from.inputs);
  visit(resistance_, from.resistance);
  visit(pair_walks_, from.pair_walks);
}

void ResidentMolecules::upload(const MoleculeArrays& from, const ModelPlan& plan, Stream stream) {
  entries_ = from.entries;
  streams_ = false;
  has_forbidden_ = plan.classes.forbidden_distance > 0;
  classify(entries_);
  visit_arrays(from, [stream](auto& array, const auto& values) { array.upload(values, stream); });
}

void ResidentMolecules::begin_stream(const MoleculeArrays& all, const ModelPlan& plan) {
  streams_ = true;
  has_forbidden_ = plan.classes.forbidden_distance > 0;
  classify(all.entries);
}

void ResidentMolecules::stream_in(const MoleculeArrays& all, std::span<const std::int64_t> numbers, Stream stream) {
  batch_.clear();
  for (const std::int64_t number : numbers) batch_.append(all, number);
  entries_ = batch_.entries;
  ring_.begin();
  std::vector<std::size_t> at;
  visit_arrays(batch_, [&](auto&, const auto& values) { at.push_back(ring_.add(values)); });
  std::size_t next = 0;
  visit_arrays(batch_, [&](auto& array, const auto& values) {
    if (values.size() + 1 > array.capacity())
      array.sized(2 * (values.size() + 1));  // rarely, because recordings contain the address
    ring_.send(at[next++], values.size() * sizeof(values[0]), array.data(), stream);
  });
  ring_.end(stream);
}

void BatchPlaces::upload(const ResidentMolecules& set, std::span<const std::int64_t> numbers, const FillUp& fill,
                         const StepNumbers& of_step, Stream stream) {
  const auto filled = [](std::int64_t count, std::int64_t multiple) {
    return (count + multiple - 1) / multiple * multiple;
  };
  std::vector<Molecule> places;
  std::vector<TokenPlace> tokens_of;
  std::vector<std::vector<std::int32_t>> by_class(set.largest().size());
  pairs = relations = 0;
  for (const std::int64_t one : numbers) {
    const MoleculeArrays::Entry& e = set.entry(places.size(), one);
    const auto b = static_cast<std::int32_t>(places.size());
    by_class[set.class_of(e.tokens)].push_back(b);
    places.push_back({e.row, e.tokens, e.relations, e.longest, static_cast<std::int64_t>(tokens_of.size()), pairs,
                      relations, e.atom_at, e.pair_at, e.relation_at, e.input_at});
    for (std::int32_t i = 0; i < e.tokens; ++i) tokens_of.push_back({e.row, static_cast<std::uint32_t>(i), b});
    pairs += static_cast<std::int64_t>(e.tokens) * e.tokens;
    relations += e.relations;
  }
  molecules = static_cast<int>(places.size());
  rows = static_cast<int>(filled(static_cast<std::int64_t>(tokens_of.size()), fill.rows));
  last_rows = std::min(fill.rows, rows);
  tokens_of.resize(static_cast<std::size_t>(rows));
  relations = filled(relations, fill.relations);
  pairs = filled(pairs, fill.pairs);
  classes.clear();
  std::vector<std::int32_t> order;
  for (std::size_t k = 0; k < by_class.size(); ++k) {
    if (by_class[k].empty()) continue;
    by_class[k].resize(static_cast<std::size_t>(filled(static_cast<std::int64_t>(by_class[k].size()), fill.molecules)),
                       -1);
    classes.push_back({static_cast<int>(order.size()), static_cast<int>(by_class[k].size()), set.largest()[k].tokens,
                       set.largest()[k].relations});
    order.insert(order.end(), by_class[k].begin(), by_class[k].end());
  }
  upload_.begin();
  const std::size_t step_at = upload_.add(&of_step, sizeof of_step), molecule_at = upload_.add(places),
                    token_at = upload_.add(tokens_of);
  const std::size_t chosen_at = upload_.add(order),
                    number_at = upload_.add(std::vector<std::int32_t>(numbers.begin(), numbers.end()));
  upload_.send(memory_, stream);
  const auto at = [this](std::size_t offset) { return static_cast<const void*>(memory_.data() + offset); };
  step = static_cast<const StepNumbers*>(at(step_at));
  molecule = static_cast<const Molecule*>(at(molecule_at));
  token = static_cast<const TokenPlace*>(at(token_at));
  chosen = static_cast<const std::int32_t*>(at(chosen_at));
  number = static_cast<const std::int32_t*>(at(number_at));
}

}  // namespace molgraph::cuda
