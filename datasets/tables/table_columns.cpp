// Look-up of columns by name.
#include <utility>

#include "datasets/system/text.hpp"
#include "datasets/tables/table_reader.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {

ColumnNames::ColumnNames(const std::vector<std::string>& columns, std::string file) : file_(std::move(file)) {
  const auto add = [](auto& places, std::string name, int column) {
    Place& place = places[std::move(name)];
    if (place.count++ == 0) place.column = column;
  };
  for (std::size_t c = 0; c < columns.size(); ++c) {
    add(exact_, std::string(trim(columns[c])), static_cast<int>(c));
    add(any_case_, lower(trim(columns[c])), static_cast<int>(c));
  }
}

int ColumnNames::find(const std::string& name) const {
  const auto find_in = [&](const auto& places, const std::string& key) {
    const auto place = places.find(key);
    if (place == places.end()) return -1;
    if (place->second.count > 1) throw DataError(file_ + ": two columns are named '" + name + "'");
    return place->second.column;
  };
  const int exact = find_in(exact_, std::string(trim(name)));
  return exact >= 0 ? exact : find_in(any_case_, lower(trim(name)));
}

int find_column(const std::vector<std::string>& columns, const std::string& name, const std::string& file) {
  return ColumnNames(columns, file).find(name);
}

}  // namespace molgraph
