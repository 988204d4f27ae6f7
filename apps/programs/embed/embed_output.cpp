#include "apps/programs/embed/embed_output.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/scoring/side_files.hpp"
#include "datasets/store/embedding_file.hpp"
#include "datasets/system/text.hpp"
#include "datasets/tables/table_reader.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

std::string row_cells(const std::string& id, const std::string& smiles, const Embedding& embedding, char delimiter) {
  std::string line = quote_cell(id, delimiter);
  for (const std::string& cell : {smiles, std::string(to_string(embedding.status)), embedding.reason}) {
    line += delimiter + quote_cell(cell, delimiter);
  }
  return line;
}

/// A matrix cannot store ids, so they are written to a separate file.
class NpySink : public RowSink<Embedding> {
 public:
  NpySink(const std::string& path, std::int64_t width, FloatKind kind)
      : matrix_(path, width, kind), rows_(rows_path(path)) {
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
    rows_.flush();  // if the disk is full, neither file is left
    matrix_.finish();
    rows_.finish();
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
      out += (e == 0 ? "[" : ",") + (std::isfinite(value) ? number_text(value) : "null");  // JSON has no NaN
    }
    out += "]";
  }
  out += "}\n";
}

void reject_float16_overflow(std::vector<Embedding>& rows) {
  const auto infinite = [](float value) { return (float16_bits(value) & 0x7FFFu) == 0x7C00u; };
  for (Embedding& row : rows) {
    if (row.status != RowStatus::ok || std::none_of(row.values.begin(), row.values.end(), infinite)) continue;
    row.status = RowStatus::not_finite;
    row.reason = "the embedding contains a number too large for float16";
    std::fill(row.values.begin(), row.values.end(), std::numeric_limits<float>::quiet_NaN());
  }
}

std::optional<RowFormat> embedding_lines_format(const std::string& path) {
  if (const auto format = line_format_of(path)) return format;
  if (is_output_stream(path)) return RowFormat::csv;
  const std::string name = without_gz(path);
  const bool arrays =
      name.ends_with(".npy") || name.ends_with(".npz") || name.ends_with(".h5") || name.ends_with(".hdf5");
  if (arrays && name.size() == path.size()) return std::nullopt;
  throw UsageError(path + ": the suffix must be .npz, .npy, .h5, .csv, .tsv or .jsonl (the last three also with .gz)");
}

std::vector<std::string> array_output_files(const std::string& path) {
  std::vector<std::string> files{path};
  if (!without_gz(path).ends_with(".npy")) return files;
  for (const std::string& file : {rows_path(path), part_path(rows_path(path))}) files.push_back(file);
  return files;
}

std::unique_ptr<RowSink<Embedding>> make_embedding_arrays(const std::string& path, std::int64_t width, FloatKind kind) {
  const std::string name = without_gz(path);
  if (name.ends_with(".npy")) return std::make_unique<NpySink>(path, width, kind);
  if (!name.ends_with(".npz")) return std::make_unique<Hdf5Sink>(path, width, kind);
  return std::make_unique<NpzSink>(path, width, kind);
}

}  // namespace molgraph
