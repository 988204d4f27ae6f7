// Names of RowStatus for both variants of the SMILES library. Private to this folder.
#pragma once

#include <string_view>

#include "featurize/smiles/smiles.hpp"

namespace molgraph {

constexpr std::string_view row_status_word(RowStatus status) {
  switch (status) {
    case RowStatus::ok: return "ok";
    case RowStatus::empty: return "empty";
    case RowStatus::invalid_smiles: return "invalid_smiles";
    case RowStatus::no_atoms: return "no_atoms";
    case RowStatus::too_large: return "too_large";
    case RowStatus::unsupported: return "unsupported";
    case RowStatus::not_finite: return "not_finite";
    case RowStatus::invalid_input: return "invalid_input";
  }
  return "ok";
}

}  // namespace molgraph
