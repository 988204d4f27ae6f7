// Atomic download of files over HTTP.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace molgraph {

struct DownloadOptions {
  int attempts = 6;        ///< before giving up if the connection breaks or the server is busy
  double first_pause = 1;  ///< seconds before the second attempt; doubled each time
  int stall_seconds = 30;  ///< seconds without data after which a connection counts as broken
  /// Called regularly with the bytes so far and in total (0 = unknown); returning false stops the download.
  std::function<bool(std::uint64_t, std::uint64_t)> progress;
  std::function<void(const std::string&)> log;  ///< messages for users: what is retried and why
};

/// Thrown if DownloadOptions::progress stops a download; FILE.part remains.
struct DownloadStopped {};

/// Downloads `url` (http or https; proxies from http_proxy, https_proxy, no_proxy) to `path`. The data are written to
/// PATH.part, which is renamed when it is complete. After an interruption, this or a later process continues PATH.part
/// if the server reports that the file is unchanged. `sha256`: expected checksum, "" = unknown. Waits and retries if
/// the connection breaks or the server is busy (408, 429, 5xx). Throws FileError otherwise: unreachable, rejected,
/// different content, disk full.
void download(const std::string& url, const std::string& path, const std::string& sha256,
              const DownloadOptions& options = {});

/// One file of a data set that can be downloaded.
struct Address {
  std::string url, to, sha256;                ///< `to`: path in the data folder; sha256 "" = unknown
  std::map<std::string, std::string> unpack;  ///< for a zip archive: folder in it -> folder in the data folder
};

/// Returns the addresses of a data set ("zinc 12k"), empty if unknown: from the file named by $MOLGRAPH_ADDRESSES,
/// otherwise from the built-in table (addresses.json). Throws FileError if that file is damaged.
std::vector<Address> addresses_of(const std::string& data_set);

/// Downloads `addresses` to `folder` and unpacks them. Existing files are not downloaded again.
void fetch(const std::vector<Address>& addresses, const std::string& folder, const DownloadOptions& options = {});

}  // namespace molgraph
