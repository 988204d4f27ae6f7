// Metrics computed with SciPy and scikit-learn by make_statistics.py.
#pragma once

namespace molgraph::test {

inline constexpr double kMae = 0.75;
inline constexpr double kRmse = 0.8720187306856813;
inline constexpr double kR2 = 0.6449416342412451;
inline constexpr double kPearson = 0.8647889466100898;
inline constexpr double kSpearman = 0.8639446961143671;
inline constexpr double kKendall = 0.7061665250423568;
inline constexpr double kRocAuc = 0.9828571428571429;
inline constexpr double kPrAuc = 0.9660545905707196;
inline constexpr double kMcc = 0.8300279198737096;
inline constexpr double kBrier = 0.09350000000000001;
inline constexpr double kClassesMcc = 0.8272012868323952;
inline constexpr double kClassesAccuracy = 0.8833333333333333;
inline constexpr double kClassesBrier = 0.3835308311812681;

}  // namespace molgraph::test
