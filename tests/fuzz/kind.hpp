// What can be damaged: a kind of input, what reads it, and what must hold of whatever was accepted.
#pragma once

#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/damage.hpp"

namespace molgraph::fuzz {

/// A reader accepted something and gave what cannot be.
class Broken : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

inline void demand(bool holds, std::string_view what) {
  if (!holds) throw Broken(std::string(what));
}

/// Without the flush to disk, which would be most of the time.
inline void put_file(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

class Kind {
 public:
  virtual ~Kind() = default;
  /// Writes undamaged inputs into `folder`, once.
  virtual void make_seeds(const std::string& folder) const = 0;
  /// Reads them, and the user's own, in every worker.
  virtual void open(const std::string& folder, const std::vector<std::string>& more) = 0;
  /// One case; may write below `scratch`. True if the input was accepted and what it gave was used. Throws the typed
  /// error that refuses it, or Broken; every other exception is a defect.
  virtual bool run(Random& random, const std::string& scratch) const = 0;
  /// Seconds and MB that one case may take.
  virtual double seconds() const { return 20; }
  virtual long megabytes() const { return 500; }
};

std::unique_ptr<Kind> make_models();    ///< model.safetensors -> Predictor
std::unique_ptr<Kind> make_stores();    ///< HDF5 stores -> Store
std::unique_ptr<Kind> make_archives();  ///< torch.save's archives -> state dicts
std::unique_ptr<Kind> make_tables();    ///< CSV, TSV, SMI, SDF, gzipped too -> rows, data sets, stores
std::unique_ptr<Kind> make_smiles();    ///< SMILES and mol blocks -> graphs and predictions

}  // namespace molgraph::fuzz
