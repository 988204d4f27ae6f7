// report.json: the data that the report of a run needs and that no other file of the run contains. It contains
// statistics over all training molecules but no structures or values of single ones.
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
inline constexpr const char* kModelCard = "model_card.md";

/// The three sets of the split.
inline constexpr std::size_t kParts = 3;
inline constexpr std::array<const char*, kParts> kPartNames{"train", "valid", "test"};
/// The same in text.
inline constexpr std::array<const char*, kParts> kSetNames{"training", "validation", "test"};

/// The metrics of the run or of a method that it is compared with.
struct MethodResults {
  std::string name;  ///< for people; "this run" for the run itself
  std::array<std::optional<Measured>, kParts> parts{};
};

/// Values for the molecules of one set, in the order of its predictions file.
struct RowNumbers {
  std::vector<double> difficulty;  ///< [n, outputs] (Difficulty); empty = none
  std::vector<double> similarity;  ///< [n] to the most similar training molecule; empty = unknown
};

/// Near twins: two similar molecules of the validation or test set (1, 2), given by row, whose labels of a target
/// differ.
struct Twins {
  std::size_t part_a = 0, row_a = 0, part_b = 0, row_b = 0, target = 0;
  double similarity = 0;
};

struct ReportRecord {
  std::vector<MethodResults> methods;  ///< the first is the run
  std::vector<MethodResults> members;  ///< each member of an ensemble alone, on the evaluation set
  std::string recipe;                  ///< the recipe of the settings and its published result; "" = none
  std::optional<std::int64_t> shared;  ///< molecules that occur in two sets of the split
  std::int64_t censored = 0;           ///< labels such as ">50" in the table
  RowNumbers valid, test;
  std::int64_t compared = 0;  ///< number of training molecules used for `similarity`; 0 = none
  std::vector<Twins> twins;
};

std::string to_json(const ReportRecord& record, const std::vector<std::string>& targets);
/// `where` is the file name, `targets` the number of targets of the task. Throws FileError if it is damaged.
ReportRecord report_record_from_json(const std::string& json, const std::string& where, std::size_t targets);

}  // namespace molgraph
