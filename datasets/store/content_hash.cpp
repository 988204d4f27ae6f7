#include "datasets/store/content_hash.hpp"

#include <xxhash.h>

#include <memory>
#include <new>
#include <string>

namespace molgraph {
namespace {

template <class Value>
void append(std::string& bytes, Value value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

std::uint64_t content_hash(const MoleculeSet& set, const Split& split) {
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(), XXH3_freeState);
  if (!state) throw std::bad_alloc();
  XXH3_64bits_reset(state.get());
  const std::size_t computed = set.computed_targets.empty() ? 0 : set.dense_targets();
  std::string bytes;
  for (const auto* part : {&split.train, &split.valid, &split.test, &split.calibration}) {
    bytes.clear();
    append(bytes, part->size());
    XXH3_64bits_update(state.get(), bytes.data(), bytes.size());
    for (const std::int64_t g : *part) {
      const auto at = static_cast<std::size_t>(g);
      bytes = set.smiles[at];
      append(bytes, bytes.size());
      append(bytes, set.row[at]);
      append(bytes, set.weight.empty() ? 1.0f : set.weight[at]);
      append(bytes, set.sparse.weight.empty() ? 1.0f : set.sparse.weight[at]);
      set.labels_of(g, [&](std::size_t target, double value, std::int8_t bound) {
        if (target < computed) return;
        append(bytes, target);
        append(bytes, static_cast<float>(value));
        append(bytes, bound);
      });
      XXH3_64bits_update(state.get(), bytes.data(), bytes.size());
    }
  }
  return XXH3_64bits_digest(state.get());
}

}  // namespace molgraph
