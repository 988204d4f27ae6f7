// A strict check of HTML that molgraph writes: every element is closed, every reference exists, nothing is fetched.
#pragma once

#include <string>

namespace molgraph::test {

/// "" if tags nest, attributes are quoted and unique, ids are unique, referenced ids exist, and & and < are escaped.
/// Otherwise the first problem. Stricter than the standard: elements with optional end tags must be closed.
std::string html_problem(const std::string& html);

/// The first address that a browser would fetch, or script that it would run; "" if there is none.
std::string network_reference(const std::string& html);

}  // namespace molgraph::test
