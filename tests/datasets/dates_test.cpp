// Dates of a time column.
#include "datasets/tables/dates.hpp"

#include <gtest/gtest.h>

namespace molgraph {
namespace {

TEST(Dates, AreSecondsSince1970) {
  EXPECT_EQ(seconds_of_date("1970-01-01"), 0.0);
  EXPECT_EQ(seconds_of_date(" 2024-03-01 "), 1709251200.0);
  EXPECT_EQ(seconds_of_date("2024-03-01 08:30"), 1709251200.0 + 8.5 * 3600);
  EXPECT_EQ(seconds_of_date("2024-03-01T08:30:15.25Z"), 1709251200.0 + 8.5 * 3600 + 15.25);
  EXPECT_EQ(seconds_of_date("2024-03-01T08:30+02:00"), 1709251200.0 + 6.5 * 3600);
  EXPECT_EQ(seconds_of_date("2024-03-01T08:30-0530"), 1709251200.0 + 14 * 3600);
  EXPECT_EQ(seconds_of_date("2024-03-01 08:30:00 UTC"), 1709251200.0 + 8.5 * 3600) << "as databases export it";
  EXPECT_EQ(seconds_of_date("2024-03-01 08:30 +02:00"), 1709251200.0 + 6.5 * 3600);
  EXPECT_EQ(seconds_of_date("2024-02-29T24:00"), 1709251200.0);
  EXPECT_EQ(seconds_of_date("1969-12-31"), -86400.0);
}

TEST(Dates, InvalidDatesAreRejected) {
  for (const char* text :
       {"2024-99-99", "2024-13-01", "2024-00-10", "2024-04-31", "2023-02-29", "1900-02-29", "2024-03-00",
        "2024-03-01T25:00", "2024-03-01 08:60", "2024-03-01 24:01", "2024-03-01T08:30:61", "2024-03-01x", "2024-03-01T",
        "2024-03-01T8:30", "2024-03-01T08:30+99:00", "2024-03-01T08:30Zz", "2024-03-01 08:30."}) {
    EXPECT_TRUE(looks_like_date(text)) << text;
    EXPECT_FALSE(seconds_of_date(text)) << text;
  }
  for (const char* text : {"", "2024", "soon", "01.03.2024", "03/01/2024", "2024/03/01", "2024-3-1", "24-03-01"}) {
    EXPECT_FALSE(looks_like_date(text)) << text;
    EXPECT_FALSE(seconds_of_date(text)) << text;
  }
}

TEST(Dates, NumbersThatMayBeDatesInAnotherOrder) {
  for (const char* text : {"03.2024", " 12.1999 ", "25092023", "01012000"})
    EXPECT_TRUE(looks_like_unordered_date(text)) << text;
  for (const char* text :
       {"", "13.2024", "3.5", "20240301", "2024.03", "03.20245", "32092023", "03.2424", "7", "-3.2024"})
    EXPECT_FALSE(looks_like_unordered_date(text)) << text;
}

}  // namespace
}  // namespace molgraph
