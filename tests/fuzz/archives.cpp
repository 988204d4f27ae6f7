// Archives of torch.save: a damaged zip file, or a damaged pickle in a zip file with correct checksums, which reaches
// more code.
#include <algorithm>
#include <filesystem>

#include "datasets/archives/torch_archive.hpp"
#include "datasets/archives/zip_archive.hpp"
#include "datasets/system/files.hpp"
#include "tests/fuzz/kind.hpp"

namespace molgraph::fuzz {
namespace {

constexpr std::string_view kOpcodes =
    "(.012NJKMGXTUBC)t]lae}suqrhjcQRb\x80\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8d\x93\x94\x95";

class Archives : public Kind {
 public:
  void make_seeds(const std::string& folder) const override {  // made by PyTorch
    for (const char* name : {"plain", "under_model", "types", "views", "split_arrays", "deflated"})
      std::filesystem::copy_file(std::string(MOLGRAPH_ARCHIVES_DIR "/") + name + ".pt", folder + "/" + name + ".pt");
  }

  void open(const std::string& folder, const std::vector<std::string>& more) override {
    paths_ = more;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) paths_.push_back(entry.path().string());
    std::sort(paths_.begin(), paths_.end());
  }

  bool run(Random& random, const std::string& scratch) const override {
    const std::string& source = one_of(random, paths_);
    const std::string path = scratch + "/a.pt";
    if (one_in(random, 4)) put_file(path, damaged(read_file(source), random, kOpcodes));
    else write_with_damaged_pickle(source, path, random);
    for (const auto& [name, tensor] : read_state_dict(path)) {
      require(tensor.count() >= 0, "a shape");
      require(tensor.bytes.size() == static_cast<std::size_t>(tensor.count()) * size_of(tensor.dtype),
              "as many bytes as the shape of " + name + " needs");
    }
    return true;
  }

  long megabytes() const override { return 200; }  // a million values of a pickle take about 140 MB

 private:
  static void write_with_damaged_pickle(const std::string& from, const std::string& to, Random& random) {
    const ZipArchive archive(from);
    std::vector<std::string> contents;
    std::vector<ZipMember> members;
    for (const std::string& name : archive.names()) {
      const auto bytes = archive.read(name);
      contents.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      if (name.ends_with("data.pkl")) contents.back() = damaged(contents.back(), random, kOpcodes);
    }
    for (std::size_t k = 0; k < contents.size(); ++k)
      members.push_back({archive.names()[k], contents[k].data(), contents[k].size()});
    write_zip(to, members);
  }

  std::vector<std::string> paths_;
};

}  // namespace

std::unique_ptr<Kind> make_archives() { return std::make_unique<Archives>(); }

}  // namespace molgraph::fuzz
