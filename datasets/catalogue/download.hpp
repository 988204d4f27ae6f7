// Files fetched over HTTP, whole or not at all.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace molgraph {

struct DownloadOptions {
  int attempts = 6;        ///< before giving up on a server that breaks off or is busy
  double first_pause = 1;  ///< seconds before the second attempt; doubled every time
  int stall_seconds = 30;  ///< without a byte count as broken off
  /// Called now and then with bytes so far and in all (0 = unknown); false stops the download.
  std::function<bool(std::uint64_t, std::uint64_t)> progress;
  std::function<void(const std::string&)> say;  ///< lines for people: what is tried again and why
};

/// A download that DownloadOptions::progress stopped; FILE.part stays.
struct DownloadStopped {};

/// Fetches `url` (http or https; proxies by http_proxy, https_proxy, no_proxy) into `path`. It grows as PATH.part, goes
/// on there after an interruption, in this process or a later one, if the server says that the file is still the same,
/// and gets its name when it is whole. `sha256`: what the content must have, "" = not known. Waits and tries again when
/// the connection breaks or the server is busy (408, 429, 5xx). Throws FileError otherwise: unreachable, refused, other
/// content, disk full.
void download(const std::string& url, const std::string& path, const std::string& sha256,
              const DownloadOptions& options = {});

/// One file of a data set that can be fetched.
struct Address {
  std::string url, to, sha256;                ///< `to` in the data folder; sha256 "" = not known
  std::map<std::string, std::string> unpack;  ///< of a zip archive: folder in it -> folder in the data folder
};

/// The addresses of a data set ("zinc 12k"), empty if none are known: of the file named by $MOLGRAPH_ADDRESSES, else of
/// the built-in table (addresses.json). Throws FileError if that file is damaged.
std::vector<Address> addresses_of(const std::string& data_set);

/// Fetches what `addresses` name into `folder` and unpacks it. Files that are there already are left alone.
void fetch(const std::vector<Address>& addresses, const std::string& folder, const DownloadOptions& options = {});

}  // namespace molgraph
