#include "datasets/archives/zip_archive.hpp"

#include <zip.h>

#include <ctime>
#include <map>

#include "datasets/system/files.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr zip_int64_t kMaxMembers = 1'000'000;

struct CloseFile {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct FreeSource {
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};

std::string text_of(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

}  // namespace

struct ZipArchive::State {
  std::string path;
  std::uint64_t file_bytes = 0;
  std::unique_ptr<zip_t, Discard> archive;
  std::vector<std::string> names;
  std::map<std::string, zip_uint64_t> index;

  [[noreturn]] void fail(const std::string& what) const { throw FileError(path + ": " + what); }

  zip_stat_t stat(const std::string& name) const {
    const auto found = index.find(name);
    if (found == index.end()) fail("the archive has no member '" + name.substr(0, 100) + "'");
    zip_stat_t stat;
    zip_stat_init(&stat);
    constexpr zip_uint64_t kNeeded =
        ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if (zip_stat_index(archive.get(), found->second, 0, &stat) != 0 || (stat.valid & kNeeded) != kNeeded)
      fail("the archive's entry of '" + name.substr(0, 100) + "' is damaged");
    return stat;
  }
};

ZipArchive::ZipArchive(const std::string& path) : state_(std::make_unique<State>()) {
  state_->path = path;
  state_->file_bytes = File::open(path).size();
  int code = 0;
  state_->archive.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!state_->archive) state_->fail("not a readable zip archive: " + text_of(code));
  const zip_int64_t count = zip_get_num_entries(state_->archive.get(), 0);
  if (count > kMaxMembers) state_->fail("the archive has " + std::to_string(count) + " members");
  for (zip_int64_t k = 0; k < count; ++k) {
    const auto index = static_cast<zip_uint64_t>(k);
    const char* name = zip_get_name(state_->archive.get(), index, ZIP_FL_ENC_RAW);
    if (name == nullptr) state_->fail("the archive has a member without a name");
    if (!state_->index.emplace(name, index).second)
      state_->fail("the archive contains '" + std::string(name).substr(0, 100) + "' twice");
    state_->names.emplace_back(name);
  }
}

ZipArchive::~ZipArchive() = default;

const std::vector<std::string>& ZipArchive::names() const { return state_->names; }
bool ZipArchive::has(const std::string& name) const { return state_->index.contains(name); }
std::uint64_t ZipArchive::size(const std::string& name) const { return state_->stat(name).size; }

std::vector<std::byte> ZipArchive::read(const std::string& name) const {
  const zip_stat_t stat = state_->stat(name);
  const std::string shown = "member '" + name.substr(0, 100) + "'";
  if (stat.encryption_method != ZIP_EM_NONE) state_->fail(shown + " is encrypted");
  if (stat.comp_method != ZIP_CM_STORE) state_->fail(shown + " is compressed, unlike those of torch.save");
  if (stat.size != stat.comp_size || stat.size > state_->file_bytes)
    state_->fail(shown + " declares " + std::to_string(stat.size) + " bytes in a file of " +
                 std::to_string(state_->file_bytes));
  const std::unique_ptr<zip_file_t, CloseFile> file(zip_fopen_index(state_->archive.get(), state_->index.at(name), 0));
  if (!file) state_->fail(shown + " cannot be read: " + zip_strerror(state_->archive.get()));
  std::vector<std::byte> bytes(stat.size);
  std::uint64_t done = 0;
  while (done < bytes.size()) {
    const zip_int64_t got = zip_fread(file.get(), bytes.data() + done, bytes.size() - done);
    if (got <= 0)
      state_->fail(shown + " cannot be read: " + (got == 0 ? "it ends early" : zip_file_strerror(file.get())));
    done += static_cast<std::uint64_t>(got);
  }
  std::byte extra{};  // libzip compares the checksum at the end of the member
  if (zip_fread(file.get(), &extra, 1) != 0) state_->fail(shown + " is damaged: " + zip_file_strerror(file.get()));
  return bytes;
}

void ZipArchive::extract(const std::string& name, const std::string& path) const {
  const std::string shown = "member '" + name.substr(0, 100) + "'";
  const zip_stat_t stat = state_->stat(name);
  const std::unique_ptr<zip_file_t, CloseFile> file(zip_fopen_index(state_->archive.get(), state_->index.at(name), 0));
  if (!file) state_->fail(shown + " cannot be read: " + zip_strerror(state_->archive.get()));
  AtomicFile out(path);
  std::vector<char> block(std::size_t{1} << 18);
  std::uint64_t total = 0;
  while (true) {
    const zip_int64_t got = zip_fread(file.get(), block.data(), block.size());  // checks the checksum at the end
    if (got < 0) state_->fail(shown + " is damaged: " + zip_file_strerror(file.get()));
    if (got == 0) break;
    total += static_cast<std::uint64_t>(got);
    if (total > stat.size) state_->fail(shown + " is longer than it declares");
    out.file().write(block.data(), static_cast<std::size_t>(got));
  }
  if (total != stat.size) state_->fail(shown + " ends early");
  out.commit();
}

void write_zip(const std::string& path, const std::vector<ZipMember>& members) {
  const auto require = [&](bool condition, const std::string& what) {
    if (!condition) throw FileError(path + ": the archive cannot be written: " + what);
  };
  // Built in memory, so that the file appears under its name only when it is complete.
  const std::unique_ptr<zip_source_t, FreeSource> buffer(zip_source_buffer_create(nullptr, 0, 0, nullptr));
  require(buffer != nullptr, "not enough memory");
  zip_source_keep(buffer.get());  // zip_close takes one reference; the bytes are read through the other
  zip_error_t error;
  zip_error_init(&error);
  std::unique_ptr<zip_t, Discard> archive(zip_open_from_source(buffer.get(), ZIP_TRUNCATE, &error));
  require(archive != nullptr, zip_error_strerror(&error));
  for (const ZipMember& member : members) {
    zip_source_t* source = zip_source_buffer(archive.get(), member.data, member.bytes, 0);
    require(source != nullptr, zip_strerror(archive.get()));
    const zip_int64_t index = zip_file_add(archive.get(), member.name.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) zip_source_free(source);
    require(index >= 0, zip_strerror(archive.get()));
    const auto at = static_cast<zip_uint64_t>(index);
    require(zip_set_file_compression(archive.get(), at, ZIP_CM_STORE, 0) == 0, zip_strerror(archive.get()));
    require(zip_file_set_dostime(archive.get(), at, 0, (1 << 5) | 1, 0) == 0,
            zip_strerror(archive.get()));  // 1980-01-01
  }
  require(zip_close(archive.get()) == 0, zip_strerror(archive.get()));
  (void)archive.release();
  require(zip_source_open(buffer.get()) == 0, "its bytes cannot be read back");
  AtomicFile out(path);
  std::vector<char> block(1 << 20);
  for (zip_int64_t got = 0; (got = zip_source_read(buffer.get(), block.data(), block.size())) != 0;) {
    require(got > 0, "its bytes cannot be read back");
    out.file().write(block.data(), static_cast<std::size_t>(got));
  }
  zip_source_close(buffer.get());
  out.commit();
}

}  // namespace molgraph
