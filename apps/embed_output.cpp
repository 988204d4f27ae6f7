#include "apps/embed_output.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/output_file.hpp"
#include "apps/score_output.hpp"
#include "datasets/table_reader.hpp"
#include "featurize/error.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kBlock = 1 << 20;  // bytes of text gathered before they are written

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Lines gathered into blocks.
class TextOutput {
 public:
  explicit TextOutput(const std::string& path) : file_(path) {}
  void add(const std::string& line) {
    text_ += line;
    if (text_.size() >= kBlock) flush();
  }
  void finish() {
    flush();
    file_.finish();
  }

 private:
  void flush() {
    file_.write(text_);
    text_.clear();
  }
  OutputFile file_;
  std::string text_;
};

std::string row_cells(const std::string& id, const std::string& smiles, const Embedding& embedding, char delimiter) {
  std::string line = quote_cell(id, delimiter);
  for (const std::string& cell : {smiles, std::string(to_string(embedding.status)), embedding.reason}) {
    line += delimiter + quote_cell(cell, delimiter);
  }
  return line;
}

class TableWriter : public EmbeddingWriter {
 public:
  TableWriter(const std::string& path, std::int64_t width, char delimiter) : out_(path), delimiter_(delimiter) {
    std::string line = "id";
    for (const char* name : {"smiles", "status", "reason"}) line += delimiter + std::string(name);
    for (std::int64_t e = 0; e < width; ++e) line += delimiter + ("e" + std::to_string(e));
    out_.add(line + "\n");
  }
  void add(const std::string& id, const std::string& smiles, const Embedding& embedding) override {
    std::string line = row_cells(id, smiles, embedding, delimiter_);
    for (const float value : embedding.values) line += delimiter_ + number_text(value);
    out_.add(line + "\n");
  }
  void finish() override { out_.finish(); }

 private:
  TextOutput out_;
  char delimiter_;
};

class JsonLinesWriter : public EmbeddingWriter {
 public:
  explicit JsonLinesWriter(const std::string& path) : out_(path) {}
  void add(const std::string& id, const std::string& smiles, const Embedding& embedding) override {
    std::string line = "{\"id\":" + quoted(id) + ",\"smiles\":" + quoted(smiles) + ",\"status\":\"" +
                       std::string(to_string(embedding.status)) + "\",\"reason\":" + quoted(embedding.reason) +
                       ",\"embedding\":";
    if (embedding.status != RowStatus::ok) {
      line += "null";
    } else {
      for (std::size_t e = 0; e < embedding.values.size(); ++e) {
        const float value = embedding.values[e];
        line += (e == 0 ? "[" : ",") + (std::isfinite(value) ? number_text(value) : "null");  // JSON knows no NaN
      }
      line += "]";
    }
    out_.add(line + "}\n");
  }
  void finish() override { out_.finish(); }

 private:
  static std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  TextOutput out_;
};

/// A matrix has no room for ids: they lie beside it.
class NpyOutput : public EmbeddingWriter {
 public:
  NpyOutput(const std::string& path, std::int64_t width, FloatKind kind)
      : matrix_(path, width, kind), rows_(path.substr(0, path.size() - 4) + ".rows.csv") {
    rows_.add("id,smiles,status,reason\n");
  }
  void add(const std::string& id, const std::string& smiles, const Embedding& embedding) override {
    matrix_.add_row(embedding.values);
    rows_.add(row_cells(id, smiles, embedding, ',') + "\n");
  }
  void finish() override {
    rows_.finish();
    matrix_.finish();
  }

 private:
  NpyWriter matrix_;
  TextOutput rows_;
};

class NpzOutput : public EmbeddingWriter {
 public:
  NpzOutput(const std::string& path, std::int64_t width, FloatKind kind) : archive_(path, width, kind) {}
  void add(const std::string& id, const std::string& smiles, const Embedding& embedding) override {
    archive_.add_row(embedding.values, id, smiles, std::string(to_string(embedding.status)));
  }
  void finish() override { archive_.finish(); }

 private:
  NpzWriter archive_;
};

}  // namespace

std::unique_ptr<EmbeddingWriter> make_embedding_writer(const std::string& path, std::int64_t width, FloatKind kind) {
  const std::string name = without_gz(path);
  const bool gzipped = name.size() != path.size();
  if (!gzipped && ends_with(name, ".npy")) return std::make_unique<NpyOutput>(path, width, kind);
  if (!gzipped && ends_with(name, ".npz")) return std::make_unique<NpzOutput>(path, width, kind);
  const bool csv = path == "-" || ends_with(name, ".csv"), tsv = ends_with(name, ".tsv"),
             json = ends_with(name, ".jsonl");
  if (!csv && !tsv && !json) {
    throw UsageError(path + ": the suffix must be .npy, .npz, .csv, .tsv or .jsonl (the last three also with .gz)");
  }
  if (kind == FloatKind::float16) throw UsageError("--dtype float16 is for .npy and .npz only");
  if (json) return std::make_unique<JsonLinesWriter>(path);
  return std::make_unique<TableWriter>(path, width, tsv ? '\t' : ',');
}

}  // namespace molgraph
