// report.json: what the report of a run needs and no other file of the run says. It holds numbers of training molecules
// as a whole and none of a single one: neither structures nor values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/report/statistics.hpp"

namespace molgraph {

inline constexpr const char* kReportRecord = "report.json";
inline constexpr const char* kReportPage = "report.html";

/// The three parts: train, valid, test.
inline constexpr std::size_t kParts = 3;
inline constexpr std::array<const char*, kParts> kPartNames{"train", "valid", "test"};

/// How good the run is, or a method beside it.
struct MethodResults {
  std::string name;  ///< for people; of the run itself "this run"
  std::array<std::optional<Measured>, kParts> parts{};
};

/// Numbers of the molecules of a part, in the order of its predictions file.
struct RowNumbers {
  std::vector<double> deviation;   ///< [n, outputs] over an ensemble's models; empty = one model
  std::vector<double> similarity;  ///< [n] to the most similar training molecule; empty = not known
};

/// Two molecules of the validation or test part (1, 2) by their rows, alike but for the label of a target.
struct Twins {
  std::size_t part_a = 0, row_a = 0, part_b = 0, row_b = 0, target = 0;
  double similarity = 0;
};

struct ReportRecord {
  std::vector<MethodResults> methods;  ///< the first is the run
  std::vector<MethodResults> members;  ///< each model of an ensemble alone, what is judged by
  std::string recipe;                  ///< whose settings it has, and what they are known to reach; "" = none
  std::optional<std::int64_t> shared;  ///< molecules that stand in two parts of the split
  std::int64_t censored = 0;           ///< labels such as ">50" in the table
  RowNumbers valid, test;
  std::int64_t compared = 0;  ///< training molecules that `similarity` is by; 0 = none
  std::vector<Twins> twins;
};

std::string to_json(const ReportRecord& record, const std::vector<std::string>& targets);
/// `where` is the file's name, `targets` how many the task has. Throws FileError if it is damaged.
ReportRecord report_record_from_json(const std::string& json, const std::string& where, std::size_t targets);

}  // namespace molgraph
