// A plot as inline SVG: two axes with round ticks, lines, dots, bars. The page's CSS classes s1 to s4 define the
// colours for the light, dark and print layouts.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace molgraph {

/// The range of an axis, with round ticks (Heckbert 1990, "Nice numbers for graph labels").
struct PlotAxis {
  std::string label;  ///< plain text
  double low = 0, high = 1;
  std::vector<std::pair<double, std::string>> ticks{};  ///< plain text

  /// An axis that contains low to high and ends on ticks, with about `num_ticks` ticks. An empty range is widened.
  static PlotAxis nice(std::string label, double low, double high, int num_ticks = 6);
  /// 0 to 1 in steps of 0.2.
  static PlotAxis shares(std::string label);
  /// One tick per name, at 0, 1, ...
  static PlotAxis of_names(std::string label, const std::vector<std::string>& names);
};

struct PlotPoint {
  double x, y;
};
/// A line from (at, low) to (at, high), or from (low, at) to (high, at) for horizontal bars.
struct PlotBar {
  double at, low, high;
};

class SvgPlot {
 public:
  /// `title` and `description` (plain text) are for screen readers; `id` is unique on the page.
  SvgPlot(std::string id, std::string title, std::string description, PlotAxis x, PlotAxis y, bool square = false);

  /// `style`: 1 to 4, which differ in colour, dashes and shape of dots. `name`: in the legend, "" = none.
  void line(const std::vector<PlotPoint>& points, int style, const std::string& name = {});
  /// A thin grey reference line, such as the identity.
  void guide(PlotPoint from, PlotPoint to, const std::string& name = {});
  void dots(const std::vector<PlotPoint>& points, int style, const std::string& name = {});
  /// Larger dots with tooltips: `titles`, plain text.
  void marks(const std::vector<PlotPoint>& points, const std::vector<std::string>& titles, int style,
             const std::string& name = {});
  /// The drawing of a molecule, which appears while the pointer is on its dot.
  struct Hover {
    PlotPoint at;
    std::string id;                    ///< of the drawing (hover_drawing()) on the page
    std::array<std::string, 2> lines;  ///< plain text below the drawing
  };
  void hovers(const std::vector<Hover>& hovers);
  void bars(const std::vector<PlotBar>& bars, int style, bool horizontal = false);
  /// Boxes from 0 to `high`, from `x` to `x2`.
  struct Box {
    double x, x2, high;
    std::string title;
  };
  void boxes(const std::vector<Box>& boxes, int style);
  void note(PlotPoint at, const std::string& text);

  std::string svg() const;

 private:
  std::string position(double x, double y) const;
  double pixel_x(double x) const;
  double pixel_y(double y) const;
  void add_to_legend(int style, const std::string& name, char shape);

  std::string id_, title_, description_;
  PlotAxis x_, y_;
  double left_, width_, height_;
  std::string body_;
  struct LegendEntry {
    int style;
    std::string name;
    char shape;  ///< line, dot, guide: 'l', 'd', 'g'
  };
  std::vector<LegendEntry> legend_;
};

/// The drawing that SvgPlot::hovers() shows, for an invisible <svg> of the page: that of draw_molecule_svg() with the
/// molecule's name (plain text).
std::string hover_drawing(const std::string& id, const std::string& svg, const std::string& name);

}  // namespace molgraph
