// A strict check of HTML that our programs write: every element closed, every reference known, nothing fetched.
#pragma once

#include <string>

namespace molgraph::test {

/// "" if tags nest, attributes are quoted and unique, ids are unique, what labels name is there, & and < are escaped;
/// else the first problem. Stricter than the standard: elements that HTML would close by itself must be closed.
std::string html_problem(const std::string& html);

/// The first address that a browser would fetch, or script that it would run; "" if there is none.
std::string network_reference(const std::string& html);

}  // namespace molgraph::test
