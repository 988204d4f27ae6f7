// Downloads from a real local server that cuts connections, sends wrong bytes and rejects ranges.
#include "datasets/catalogue/download.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "datasets/archives/zip_archive.hpp"
#include "datasets/load.hpp"
#include "datasets/system/files.hpp"
#include "featurize/graph/error.hpp"
#include "tests/datasets/http_server.hpp"
#include "tests/datasets/scratch_folder.hpp"

namespace molgraph {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::HttpAnswer;
using testing::HttpRequest;
using testing::HttpServer;
using testing::message_of;
using testing::serve_content;
using ::testing::SizeIs;

std::string some_content(char first = 'a') {
  std::string text(300'000, first);
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(first + static_cast<char>(i * i % 23));
  return text;
}

class DownloadTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"http_proxy", "https_proxy", "all_proxy", "ALL_PROXY", "HTTPS_PROXY", "no_proxy", "NO_PROXY"})
      ::unsetenv(name);
    options.first_pause = 0.01;
    options.stall_seconds = 2;
    options.log = [this](const std::string& line) { log_lines.push_back(line); };
    sha = sha256_of_file(folder.write("sha", content));
  }
  bool exists(const std::string& name) { return std::filesystem::exists(folder.file(name)); }

  testing::ScratchFolder folder;
  const std::string content = some_content();
  std::string sha;
  std::string path = folder.file("sub/file.bin");
  DownloadOptions options;
  std::vector<std::string> log_lines;
};

TEST_F(DownloadTest, WritesTheWholeFile) {
  HttpServer server([&](const HttpRequest& r, int) { return serve_content(r, content, "\"v1\""); });
  std::uint64_t seen = 0, total = 0;
  options.progress = [&](std::uint64_t now, std::uint64_t all) {
    seen = now;
    total = std::max(total, all);
    return true;
  };
  download(server.url("/file"), path, sha, options);
  EXPECT_EQ(read_file(path), content);
  EXPECT_EQ(seen, content.size());
  EXPECT_EQ(total, content.size());
  EXPECT_FALSE(exists("sub/file.bin.part"));
  EXPECT_FALSE(exists("sub/file.bin.part.version"));
  EXPECT_THAT(server.requests(), SizeIs(1));
}

TEST_F(DownloadTest, ResumesAfterACutConnection) {
  HttpServer server([&](const HttpRequest& r, int number) {
    HttpAnswer answer = serve_content(r, content, "\"v1\"");
    if (number < 3) answer.cut_after = 70'000;
    return answer;
  });
  download(server.url("/file"), path, sha, options);
  EXPECT_EQ(read_file(path), content);
  const auto requests = server.requests();
  ASSERT_THAT(requests, SizeIs(4));
  EXPECT_EQ(requests[1].headers.at("range"), "bytes=70000-");
  EXPECT_EQ(requests[3].headers.at("range"), "bytes=210000-");
  EXPECT_EQ(requests[3].headers.at("if-range"), "\"v1\"");
  EXPECT_THAT(log_lines, SizeIs(3));
}

TEST_F(DownloadTest, ResumesAfterAFailedCall) {
  options.attempts = 1;
  HttpServer server([&](const HttpRequest& r, int number) {
    HttpAnswer answer = serve_content(r, content, "\"v1\"");
    if (number == 0) answer.cut_after = 100'000;
    return answer;
  });
  EXPECT_THAT(message_of<FileError>([&] { download(server.url("/file"), path, sha, options); }),
              AllOf(HasSubstr("cannot be downloaded after 1 attempts"), HasSubstr("file.bin.part")));
  EXPECT_FALSE(exists("sub/file.bin"));
  download(server.url("/file"), path, sha, options);
  EXPECT_EQ(read_file(path), content);
  EXPECT_EQ(server.requests()[1].headers.at("range"), "bytes=100000-");
}

TEST_F(DownloadTest, StartsAgainIfTheServerIgnoresRanges) {
  HttpServer server([&](const HttpRequest&, int number) {
    HttpAnswer answer{.status = 200, .headers = {{"ETag", "\"v1\""}}, .body = content, .cut_after = -1};
    if (number == 0) answer.cut_after = 100'000;
    return answer;
  });
  download(server.url("/file"), path, "", options);
  EXPECT_EQ(read_file(path), content) << "started again, not appended";
}

TEST_F(DownloadTest, StartsAgainIfTheFileChanges) {
  const std::string other = some_content('A');
  HttpServer server([&](const HttpRequest& r, int number) {
    HttpAnswer answer = number == 0 ? serve_content(r, other, "\"v1\"") : serve_content(r, content, "\"v2\"");
    if (number == 0) answer.cut_after = 100'000;
    return answer;
  });
  download(server.url("/file"), path, "", options);
  EXPECT_EQ(read_file(path), content);
}

TEST_F(DownloadTest, DoesNotResumeWithoutAnETag) {
  HttpServer server([&](const HttpRequest&, int number) {
    return HttpAnswer{.status = 200, .headers = {}, .body = content, .cut_after = number == 0 ? 100'000 : -1};
  });
  options.attempts = 1;
  EXPECT_THROW(download(server.url("/file"), path, "", options), FileError);
  download(server.url("/file"), path, "", options);
  EXPECT_EQ(read_file(path), content);
  EXPECT_FALSE(server.requests()[1].headers.contains("range"));
}

TEST_F(DownloadTest, WrongChecksumIsAnError) {
  HttpServer server([&](const HttpRequest& r, int) { return serve_content(r, content + "x", "\"v1\""); });
  EXPECT_THAT(message_of<FileError>([&] { download(server.url("/file"), path, sha, options); }),
              AllOf(HasSubstr("SHA-256"), HasSubstr(sha)));
  EXPECT_FALSE(exists("sub/file.bin"));
  EXPECT_THAT(server.requests(), SizeIs(1)) << "a retry would return the same bytes";
}

TEST_F(DownloadTest, DiscardsADamagedPartialFile) {
  folder.write("sub/file.bin.part", std::string(50'000, '?'));
  folder.write("sub/file.bin.part.version", "\"v1\"");
  HttpServer server([&](const HttpRequest& r, int) { return serve_content(r, content, "\"v1\""); });
  download(server.url("/file"), path, sha, options);
  EXPECT_EQ(read_file(path), content);
  EXPECT_THAT(server.requests(), SizeIs(2));
}

TEST_F(DownloadTest, DiscardsAPartialFileThatIsTooLong) {
  folder.write("sub/file.bin.part", content + "and more");
  folder.write("sub/file.bin.part.version", "\"v1\"");
  HttpServer server([&](const HttpRequest& r, int) { return serve_content(r, content, "\"v1\""); });
  download(server.url("/file"), path, "", options);
  EXPECT_EQ(read_file(path), content);
}

TEST_F(DownloadTest, RetriesABusyServerButNotAMissingFile) {
  HttpServer busy([&](const HttpRequest& r, int number) {
    if (number < 2) return HttpAnswer{.status = number == 0 ? 503 : 429, .headers = {}, .body = "later"};
    return serve_content(r, content, "\"v1\"");
  });
  download(busy.url("/file"), path, sha, options);
  EXPECT_EQ(read_file(path), content);
  HttpServer refusing([](const HttpRequest&, int) { return HttpAnswer{.status = 404, .headers = {}, .body = "gone"}; });
  EXPECT_THAT(message_of<FileError>([&] { download(refusing.url("/f"), folder.file("none"), "", options); }),
              HasSubstr("the server returned status 404"));
  EXPECT_THAT(refusing.requests(), SizeIs(1));
  options.attempts = 3;
  HttpServer broken([](const HttpRequest&, int) { return HttpAnswer{.status = 500, .headers = {}, .body = ""}; });
  EXPECT_THAT(message_of<FileError>([&] { download(broken.url("/f"), folder.file("none"), "", options); }),
              HasSubstr("after 3 attempts: the server returned status 500"));
}

TEST_F(DownloadTest, FollowsRedirectionsExceptToFiles) {
  HttpServer server([&](const HttpRequest& r, int) {
    if (r.target == "/file") return HttpAnswer{.status = 302, .headers = {{"Location", "/moved"}}, .body = "moved"};
    if (r.target == "/trap")
      return HttpAnswer{.status = 302, .headers = {{"Location", "file:///etc/passwd"}}, .body = ""};
    return serve_content(r, content, "\"v1\"");
  });
  download(server.url("/file"), path, sha, options);
  EXPECT_EQ(read_file(path), content);
  EXPECT_THROW(download(server.url("/trap"), folder.file("trap"), "", options), FileError);
  EXPECT_FALSE(exists("trap"));
}

TEST_F(DownloadTest, ProxiesAreUsed) {
  HttpServer proxy([&](const HttpRequest& r, int) { return serve_content(r, content, "\"v1\""); });
  ::setenv("http_proxy", proxy.url("").c_str(), 1);
  download("http://molgraph.invalid/file", path, sha, options);
  ::unsetenv("http_proxy");
  EXPECT_EQ(proxy.requests().at(0).target, "http://molgraph.invalid/file");
}

TEST_F(DownloadTest, CanBeRepeatedAfterAStop) {
  HttpServer server([&](const HttpRequest& r, int) { return serve_content(r, content, "\"v1\""); });
  options.progress = [](std::uint64_t now, std::uint64_t) { return now == 0; };
  EXPECT_THROW(download(server.url("/file"), path, sha, options), DownloadStopped);
  EXPECT_FALSE(exists("sub/file.bin"));
  options.progress = {};
  download(server.url("/file"), path, sha, options);
  EXPECT_EQ(read_file(path), content);
}

TEST_F(DownloadTest, ClosedPortIsAnError) {
  std::string closed;
  {
    closed = HttpServer([](const HttpRequest&, int) { return HttpAnswer{}; }).url("/file");
  }
  EXPECT_THAT(message_of<FileError>([&] { download(closed, path, sha, options); }),
              HasSubstr(closed + ": cannot be downloaded"));
  EXPECT_FALSE(exists("sub/file.bin.part"));
}

/// Downloads, unpacks and loads named data sets.
class FetchTest : public DownloadTest {
 protected:
  void SetUp() override {
    DownloadTest::SetUp();
    esol = "Compound ID,measured log solubility in mols per litre,smiles\na,-1.5,CC\nb,-2.5,C1CC1\nc,-3.5,CCO\n";
    server = std::make_unique<HttpServer>([this](const HttpRequest& r, int) {
      return r.target == "/esol.csv" ? serve_content(r, esol, "\"1\"") : serve_content(r, archive, "\"2\"");
    });
    load.data_dir = folder.file("data");
    load.download = options;
  }
  void TearDown() override { ::unsetenv("MOLGRAPH_ADDRESSES"); }
  void use_addresses(const std::string& json) {
    ::setenv("MOLGRAPH_ADDRESSES", folder.write("addresses.json", json).c_str(), 1);
  }

  std::string esol, archive;
  std::unique_ptr<HttpServer> server;
  LoadOptions load;
};

TEST_F(FetchTest, MissingDataSetIsDownloadedOnce) {
  use_addresses("{\"esol\": [{\"url\": \"" + server->url("/esol.csv") +
                "\", \"to\": \"moleculenet/delaney-processed.csv\", \"sha256\": null}]}");
  load.paths = {"esol"};
  load.split = SplitKind::random;
  EXPECT_EQ(load_data(load).set.size(), 3);
  EXPECT_EQ(load_data(load).set.size(), 3);
  EXPECT_THAT(server->requests(), SizeIs(1));
  EXPECT_TRUE(exists("data/moleculenet/delaney-processed.csv"));
}

TEST_F(FetchTest, ArchivesAreUnpackedIntoTheirFolder) {
  const std::string table = testing::gzip("PCBA-1,smiles,mol_id\n1,CC,a\n0,CO,b\n"), rows[] = {"0\n", "1\n", ""};
  const std::string zip = folder.file("made.zip");
  write_zip(zip, {{"pcba/mapping/mol.csv.gz", table.data(), table.size()},
                  {"pcba/split/scaffold/train.csv.gz", rows[0].data(), 2},
                  {"pcba/split/scaffold/valid.csv.gz", rows[1].data(), 2},
                  {"pcba/split/scaffold/test.csv.gz", rows[2].data(), 0},
                  {"elsewhere/file", "x", 1}});
  archive = read_file(zip);
  use_addresses("{\"molpcba\": [{\"url\": \"" + server->url("/pcba.zip") + "\", \"to\": \"pcba.zip\", \"sha256\": \"" +
                sha256_of_file(zip) + "\", \"unpack\": {\"pcba/\": \"ogbg_molpcba/\"}}]}");
  load.paths = {"molpcba"};
  EXPECT_THAT(message_of<FileError>([&] { load_data(load); }), HasSubstr("350343"))
      << "read, then rejected because of its size";
  EXPECT_TRUE(exists("data/ogbg_molpcba/mapping/mol.csv.gz"));
  EXPECT_FALSE(exists("data/pcba.zip"));
  EXPECT_FALSE(exists("data/elsewhere"));
}

TEST_F(FetchTest, ArchivesCannotWriteOutsideTheirFolder) {
  const std::string zip = folder.file("made.zip");
  write_zip(zip, {{"pcba/../../escaped", "x", 1}});
  archive = read_file(zip);
  use_addresses("{\"molpcba\": [{\"url\": \"" + server->url("/pcba.zip") +
                "\", \"to\": \"pcba.zip\", \"unpack\": {\"pcba/\": \"ogbg_molpcba/\"}}]}");
  load.paths = {"molpcba"};
  EXPECT_THAT(message_of<FileError>([&] { load_data(load); }), HasSubstr("is not a path in the data folder"));
  EXPECT_FALSE(exists("escaped"));
}

TEST_F(FetchTest, OfflineErrorExplainsWhatToDo) {
  std::string closed;
  {
    closed = HttpServer([](const HttpRequest&, int) { return HttpAnswer{}; }).url("/esol.csv");
  }
  use_addresses("{\"esol\": [{\"url\": \"" + closed + "\", \"to\": \"moleculenet/esol.csv\"}]}");
  load.paths = {"esol"};
  EXPECT_THAT(message_of<FileError>([&] { load_data(load); }),
              AllOf(HasSubstr("cannot be downloaded"), HasSubstr(closed), HasSubstr("moleculenet/esol.csv"),
                    HasSubstr("put them in: " + load.data_dir)));
  use_addresses("{\"esol\": 3}");
  EXPECT_THAT(message_of<FileError>([&] { load_data(load); }), HasSubstr("addresses.json: not a valid address table"));
}

TEST(Addresses, BuiltInTableHasEveryDownloadableDataSet) {
  for (const char* name : {"zinc 12k", "zinc full", "pcqm4m", "pcqm4mv2", "molhiv", "molpcba", "esol", "freesolv",
                           "lipo", "bbbp", "bace", "clintox", "tox21", "sider"}) {
    const auto addresses = addresses_of(name);
    EXPECT_FALSE(addresses.empty()) << name;
    for (const Address& address : addresses) EXPECT_TRUE(address.url.starts_with("https://")) << address.url;
  }
  EXPECT_TRUE(addresses_of("demo").empty());
}

}  // namespace
}  // namespace molgraph
