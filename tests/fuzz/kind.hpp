// Kinds of input: how each is damaged and read, and what must be true of accepted input.
#pragma once

#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/damage.hpp"

namespace molgraph::fuzz {

/// A reader accepted an input and returned an invalid result.
class InvalidResult : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

inline void require(bool holds, std::string_view what) {
  if (!holds) throw InvalidResult(std::string(what));
}

/// Writes a file without a flush to disk, which would take most of the time.
inline void put_file(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

class Kind {
 public:
  virtual ~Kind() = default;
  /// Writes undamaged inputs into `folder`. Called once.
  virtual void make_seeds(const std::string& folder) const = 0;
  /// Reads these inputs and the user's files `more`. Called in every worker.
  virtual void open(const std::string& folder, const std::vector<std::string>& more) = 0;
  /// Runs one case; may write below `scratch`. Returns true if the input was accepted and the result was used. Throws
  /// the typed error that rejects the input, or InvalidResult. Every other exception is a defect.
  virtual bool run(Random& random, const std::string& scratch) const = 0;
  /// Time and memory limit of one case.
  virtual double seconds() const { return 20; }
  virtual long megabytes() const { return 500; }
};

std::unique_ptr<Kind> make_models();    ///< model.safetensors -> Predictor
std::unique_ptr<Kind> make_stores();    ///< HDF5 stores -> Store
std::unique_ptr<Kind> make_archives();  ///< archives of torch.save -> state dicts
std::unique_ptr<Kind> make_tables();    ///< CSV, TSV, SMI, SDF, gzipped too -> rows, data sets, stores
std::unique_ptr<Kind> make_smiles();    ///< SMILES and mol blocks -> graphs

}  // namespace molgraph::fuzz
