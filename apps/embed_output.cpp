#include "apps/embed_output.hpp"

#include <cmath>

#include "datasets/embedding_file.hpp"
#include "datasets/table_reader.hpp"
#include "datasets/text.hpp"
#include "featurize/error.hpp"

namespace molgraph {
namespace {

std::string row_cells(const std::string& id, const std::string& smiles, const Embedding& embedding, char delimiter) {
  std::string line = quote_cell(id, delimiter);
  for (const std::string& cell : {smiles, std::string(to_string(embedding.status)), embedding.reason}) {
    line += delimiter + quote_cell(cell, delimiter);
  }
  return line;
}

/// A matrix has no room for ids: they lie beside it.
class NpySink : public RowSink<Embedding> {
 public:
  NpySink(const std::string& path, std::int64_t width, FloatKind kind)
      : matrix_(path, width, kind), rows_(path.substr(0, path.size() - 4) + ".rows.csv") {
    rows_.add("id,smiles,status,reason\n");
  }
  void write(const RowWindows& windows, const DoneWindow<Embedding>& done) override {
    for (std::size_t i = 0; i < done.results.size(); ++i) {
      const Embedding& one = done.results[i];
      matrix_.add_row(one.values);
      rows_.add(row_cells(windows.id(done.window, i), windows.smiles(done.window.rows[i]), one, ',') + "\n");
    }
  }
  void finish() override {
    rows_.finish();
    matrix_.finish();
  }

 private:
  NpyWriter matrix_;
  LineFile rows_;
};

class NpzSink : public RowSink<Embedding> {
 public:
  NpzSink(const std::string& path, std::int64_t width, FloatKind kind) : archive_(path, width, kind) {}
  void write(const RowWindows& windows, const DoneWindow<Embedding>& done) override {
    for (std::size_t i = 0; i < done.results.size(); ++i) {
      const Embedding& one = done.results[i];
      archive_.add_row(one.values, windows.id(done.window, i), windows.smiles(done.window.rows[i]),
                       std::string(to_string(one.status)));
    }
  }
  void finish() override { archive_.finish(); }

 private:
  NpzWriter archive_;
};

class Hdf5Sink : public RowSink<Embedding> {
 public:
  Hdf5Sink(const std::string& path, std::int64_t width, FloatKind kind) : file_(path, width, kind) {}
  void write(const RowWindows& windows, const DoneWindow<Embedding>& done) override {
    for (std::size_t i = 0; i < done.results.size(); ++i) {
      const Embedding& one = done.results[i];
      file_.add_row(one.values, windows.id(done.window, i), windows.smiles(done.window.rows[i]),
                    std::string(to_string(one.status)), one.reason);
    }
  }
  void finish() override { file_.finish(); }

 private:
  EmbeddingFileWriter file_;
};

}  // namespace

std::string EmbeddingTable::header() const {
  if (format_ == RowFormat::json) return {};
  const char delimiter = delimiter_of(format_);
  std::string line = "id";
  for (const char* name : {"smiles", "status", "reason"}) line += delimiter + std::string(name);
  for (std::int64_t e = 0; e < width_; ++e) line += delimiter + ("e" + std::to_string(e));
  return line + "\n";
}

void EmbeddingTable::append(const std::string& id, const std::string& smiles, const Embedding& embedding,
                            std::string& out) const {
  if (format_ != RowFormat::json) {
    const char delimiter = delimiter_of(format_);
    out += row_cells(id, smiles, embedding, delimiter);
    for (const float value : embedding.values) out += delimiter + number_text(value);
    out += '\n';
    return;
  }
  out += "{\"id\":" + json_text(id) + ",\"smiles\":" + json_text(smiles) + ",\"status\":\"" +
         std::string(to_string(embedding.status)) + "\",\"reason\":" + json_text(embedding.reason) + ",\"embedding\":";
  if (embedding.status != RowStatus::ok) {
    out += "null";
  } else {
    for (std::size_t e = 0; e < embedding.values.size(); ++e) {
      const float value = embedding.values[e];
      out += (e == 0 ? "[" : ",") + (std::isfinite(value) ? number_text(value) : "null");  // JSON knows no NaN
    }
    out += "]";
  }
  out += "}\n";
}

std::optional<RowFormat> embedding_lines_format(const std::string& path) {
  const std::string name = without_gz(path);
  if (path == "-" || name.ends_with(".csv")) return RowFormat::csv;
  if (name.ends_with(".tsv")) return RowFormat::tsv;
  if (name.ends_with(".jsonl")) return RowFormat::json;
  const bool arrays = name.ends_with(".npy") || name.ends_with(".npz") || name.ends_with(".h5") || name.ends_with(".hdf5");
  if (arrays && name.size() == path.size()) return std::nullopt;
  throw UsageError(path + ": the suffix must be .npz, .npy, .h5, .csv, .tsv or .jsonl (the last three also with .gz)");
}

std::unique_ptr<RowSink<Embedding>> make_embedding_arrays(const std::string& path, std::int64_t width, FloatKind kind) {
  const std::string name = without_gz(path);
  if (name.ends_with(".npy")) return std::make_unique<NpySink>(path, width, kind);
  if (!name.ends_with(".npz")) return std::make_unique<Hdf5Sink>(path, width, kind);
  return std::make_unique<NpzSink>(path, width, kind);
}

}  // namespace molgraph
