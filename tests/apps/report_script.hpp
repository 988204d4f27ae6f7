// The report without its own script, for checks that it contains no other.
#pragma once

#include <string>

#include "apps/report/page_style.hpp"

namespace molgraph::test {

inline std::string without_script(std::string page) {
  const std::string script = std::string("<script>") + kSortScript + "</script>";
  if (const std::size_t at = page.find(script); at != std::string::npos) page.erase(at, script.size());
  return page;
}

}  // namespace molgraph::test
