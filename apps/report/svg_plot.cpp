#include "apps/report/svg_plot.hpp"

#include <algorithm>
#include <cmath>

#include "apps/report/html.hpp"
#include "datasets/system/readable.hpp"

namespace molgraph {
namespace {

constexpr double kTotalWidth = 460, kTop = 14, kBottom = 46, kRight = 14, kLegendLine = 20;
constexpr double kLetter = 7.2;  ///< approximate width of a letter at the size of the page's plots
constexpr std::size_t kTickLetters = 24;
// A drawing over a dot: the molecule, then lines with its name, label and prediction.
constexpr double kHoverWidth = 176, kDrawingHeight = 125, kHoverLine = 15, kHoverMargin = 8;
constexpr double kHoverHeight = kDrawingHeight + 3 * kHoverLine + kHoverMargin;
constexpr std::size_t kHoverLetters = 22;

double hover_line(int line) { return kDrawingHeight + kHoverLine * (line + 1) - 3; }

double nice_number(double range) {
  const double exponent = std::floor(std::log10(range)), fraction = range / std::pow(10, exponent);
  const double nice = fraction < 1.5 ? 1 : fraction < 3 ? 2 : fraction < 7 ? 5 : 10;
  return nice * std::pow(10, exponent);
}

std::string tick_text(double value, double step) {
  if (std::abs(value) < step / 1e6) value = 0;
  const double size = std::max(std::abs(value), step);
  if (size >= 1e6 || size < 1e-4) return value == 0 ? "0" : text("%.3g", value);
  const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
  return text("%.*f", decimals, value);
}

std::string number(double value) {
  std::string written = text("%.1f", value);
  if (written.ends_with(".0")) written.resize(written.size() - 2);
  return written == "-0" ? "0" : written;
}

std::string class_of(int style) { return "s" + std::to_string(std::clamp(style, 1, 4)); }

std::string text_at(double x, double y, const std::string& plain, const std::string& attributes = {}) {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\"" + attributes + ">" + escaped(plain) + "</text>";
}

}  // namespace

PlotAxis PlotAxis::nice(std::string label, double low, double high, int num_ticks) {
  if (!std::isfinite(low) || !std::isfinite(high)) low = 0, high = 1;
  if (!(high > low)) {
    const double margin = std::max(std::abs(low) * 0.1, 0.5);
    low -= margin, high += margin;
  }
  const double step = nice_number((high - low) / std::max(1, num_ticks - 1));
  PlotAxis axis{std::move(label), std::floor(low / step + 1e-9) * step, std::ceil(high / step - 1e-9) * step};
  const auto count = static_cast<int>(std::lround((axis.high - axis.low) / step));
  for (int k = 0; k <= count; ++k) {
    const double value = axis.low + k * step;
    axis.ticks.emplace_back(value, tick_text(value, step));
  }
  return axis;
}

PlotAxis PlotAxis::shares(std::string label) { return nice(std::move(label), 0, 1); }

PlotAxis PlotAxis::of_names(std::string label, const std::vector<std::string>& names) {
  PlotAxis axis{std::move(label), -0.5, static_cast<double>(names.size()) - 0.5};
  for (std::size_t k = 0; k < names.size(); ++k)
    axis.ticks.emplace_back(static_cast<double>(k), cut_short(names[k], kTickLetters));
  return axis;
}

SvgPlot::SvgPlot(std::string id, std::string title, std::string description, PlotAxis x, PlotAxis y, bool square)
    : id_(std::move(id)), title_(std::move(title)), description_(std::move(description)), x_(std::move(x)),
      y_(std::move(y)) {
  std::size_t longest = 1;
  for (const auto& [value, label] : y_.ticks) longest = std::max(longest, label.size());
  left_ = 34 + kLetter * static_cast<double>(longest);
  width_ = kTotalWidth - left_ - kRight;
  height_ = square ? width_ : 250;
}

double SvgPlot::pixel_x(double x) const {
  return left_ + std::clamp((x - x_.low) / (x_.high - x_.low), -0.02, 1.02) * width_;
}
double SvgPlot::pixel_y(double y) const {
  return kTop + (1 - std::clamp((y - y_.low) / (y_.high - y_.low), -0.02, 1.02)) * height_;
}
std::string SvgPlot::position(double x, double y) const { return number(pixel_x(x)) + " " + number(pixel_y(y)); }

void SvgPlot::add_to_legend(int style, const std::string& name, char shape) {
  if (!name.empty()) legend_.push_back({style, name, shape});
}

void SvgPlot::line(const std::vector<PlotPoint>& points, int style, const std::string& name) {
  std::string path;
  bool pen_down = false;
  for (const PlotPoint& point : points) {
    if (!std::isfinite(point.x) || !std::isfinite(point.y)) {
      pen_down = false;
      continue;
    }
    path += (pen_down ? "L" : "M") + position(point.x, point.y);
    pen_down = true;
  }
  if (path.empty()) return;
  body_ += "<path class=\"line " + class_of(style) + "\" d=\"" + path + "\"/>\n";
  add_to_legend(style, name, 'l');
}

void SvgPlot::guide(PlotPoint from, PlotPoint to, const std::string& name) {
  body_ += "<path class=\"guide\" d=\"M" + position(from.x, from.y) + "L" + position(to.x, to.y) + "\"/>\n";
  add_to_legend(1, name, 'g');
}

void SvgPlot::dots(const std::vector<PlotPoint>& points, int style, const std::string& name) {
  // A line of zero length with round ends is a dot, so one path element draws thousands of dots.
  std::string path;
  for (const PlotPoint& point : points)
    if (std::isfinite(point.x) && std::isfinite(point.y)) path += "M" + position(point.x, point.y) + "h0";
  if (path.empty()) return;
  body_ += "<path class=\"dots " + class_of(style) + "\" d=\"" + path + "\"/>\n";
  add_to_legend(style, name, 'd');
}

void SvgPlot::marks(const std::vector<PlotPoint>& points, const std::vector<std::string>& titles, int style,
                    const std::string& name) {
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (!std::isfinite(points[k].x) || !std::isfinite(points[k].y)) continue;
    body_ += "<circle class=\"mark " + class_of(style) + "\" cx=\"" + number(pixel_x(points[k].x)) + "\" cy=\"" +
             number(pixel_y(points[k].y)) + "\" r=\"4.5\"><title>" + escaped(titles[k]) + "</title></circle>\n";
  }
  add_to_legend(style, name, 'm');
}

void SvgPlot::hovers(const std::vector<Hover>& hovers) {
  for (const Hover& hover : hovers) {
    const double x = pixel_x(hover.at.x), y = pixel_y(hover.at.y);
    const double left =
        std::clamp(x < left_ + width_ / 2 ? x + 8 : x - 8 - kHoverWidth, 1.0, kTotalWidth - kHoverWidth - 1);
    const double top = std::clamp(y - kHoverHeight / 2, 0.0, kTop + height_ - kHoverHeight);
    body_ += "<g class=\"spot\"><circle cx=\"" + number(x) + "\" cy=\"" + number(y) +
             "\" r=\"5\"/><g class=\"tip\"><use href=\"#" + hover.id + "\" x=\"" + number(left) + "\" y=\"" +
             number(top) + "\"/>";
    for (int line = 0; line < 2; ++line)
      body_ += text_at(left + kHoverMargin, top + hover_line(line + 1), hover.lines[static_cast<std::size_t>(line)],
                       " class=\"ink\"");
    body_ += "</g></g>\n";
  }
}

void SvgPlot::bars(const std::vector<PlotBar>& bars, int style, bool horizontal) {
  std::string path;
  for (const PlotBar& bar : bars) {
    if (!std::isfinite(bar.at) || !std::isfinite(bar.low) || !std::isfinite(bar.high)) continue;
    path += horizontal ? "M" + position(bar.low, bar.at) + "H" + number(pixel_x(bar.high))
                       : "M" + position(bar.at, bar.low) + "V" + number(pixel_y(bar.high));
  }
  if (!path.empty()) body_ += "<path class=\"bar " + class_of(style) + "\" d=\"" + path + "\"/>\n";
}

void SvgPlot::boxes(const std::vector<Box>& boxes, int style) {
  for (const Box& box : boxes) {
    if (!std::isfinite(box.high)) continue;
    const double top = pixel_y(box.high), bottom = pixel_y(std::max(0.0, y_.low));
    body_ += "<rect class=\"box " + class_of(style) + "\" x=\"" + number(pixel_x(box.x)) + "\" y=\"" + number(top) +
             "\" width=\"" + number(pixel_x(box.x2) - pixel_x(box.x)) + "\" height=\"" +
             number(std::max(0.0, bottom - top)) + "\"><title>" + escaped(box.title) + "</title></rect>\n";
  }
}

void SvgPlot::note(PlotPoint at, const std::string& plain) {
  const double x = pixel_x(at.x);
  const char* anchor = x > left_ + 0.8 * width_   ? " class=\"count\" text-anchor=\"end\""
                       : x < left_ + 0.1 * width_ ? " class=\"count\" text-anchor=\"start\""
                                                  : " class=\"count\" text-anchor=\"middle\"";
  body_ += text_at(x, std::max(kTop + 9, pixel_y(at.y) - 7), plain, anchor) + "\n";
}

std::string SvgPlot::svg() const {
  // The legend is below the plot and wraps to several lines if necessary.
  std::string legend;
  double x = left_, y = kTop + height_ + kBottom + 12;
  for (const LegendEntry& entry : legend_) {
    const std::string name = cut_short(entry.name, 48);
    const double entry_width = 34 + kLetter * static_cast<double>(name.size());
    if (x > left_ && x + entry_width > kTotalWidth) x = left_, y += kLegendLine;
    const std::string style = class_of(entry.style), from = number(x) + " " + number(y - 4);
    if (entry.shape == 'l') legend += "<path class=\"line " + style + "\" d=\"M" + from + "h22\"/>";
    else if (entry.shape == 'g') legend += "<path class=\"guide\" d=\"M" + from + "h22\"/>";
    else if (entry.shape == 'd')
      legend += "<path class=\"dots " + style + "\" d=\"M" + number(x + 11) + " " + number(y - 4) + "h0\"/>";
    else
      legend +=
          "<circle class=\"mark " + style + "\" cx=\"" + number(x + 11) + "\" cy=\"" + number(y - 4) + "\" r=\"4.5\"/>";
    legend += text_at(x + 27, y, name) + "\n";
    x += entry_width;
  }
  const double total_height = legend_.empty() ? kTop + height_ + kBottom : y + 8;
  std::string out = "<svg viewBox=\"0 0 " + number(kTotalWidth) + " " + number(total_height) + "\" role=\"img\" id=\"" +
                    id_ + "\" aria-label=\"" + escaped(title_ + ". " + description_) + "\">\n<title>" +
                    escaped(title_) + "</title><desc>" + escaped(description_) + "</desc>\n";
  std::string grid;
  for (const auto& [value, label] : x_.ticks) {
    grid += "M" + position(value, y_.low) + "V" + number(kTop);
    out += text_at(pixel_x(value), kTop + height_ + 17, label, " class=\"tick\" text-anchor=\"middle\"") + "\n";
  }
  for (const auto& [value, label] : y_.ticks) {
    grid += "M" + position(x_.low, value) + "H" + number(left_ + width_);
    out += text_at(left_ - 7, pixel_y(value) + 4, label, " class=\"tick\" text-anchor=\"end\"") + "\n";
  }
  out += "<path class=\"grid\" d=\"" + grid + "\"/>\n" + body_;
  out += text_at(left_ + width_ / 2, kTop + height_ + 37, x_.label, " text-anchor=\"middle\"") + "\n";
  if (!y_.label.empty())
    out +=
        text_at(0, 0, y_.label,
                " text-anchor=\"middle\" transform=\"translate(14 " + number(kTop + height_ / 2) + ") rotate(-90)\"") +
        "\n";
  return out + legend + "</svg>\n";
}

std::string hover_drawing(const std::string& id, const std::string& svg, const std::string& name) {
  const std::string after_tag_name = svg.substr(std::string_view("<svg").size());
  return "<g id=\"" + id + "\"><rect class=\"paper\" width=\"" + number(kHoverWidth) + "\" height=\"" +
         number(kHoverHeight) + "\" rx=\"6\"/><svg width=\"" + number(kHoverWidth) + "\" height=\"" +
         number(kDrawingHeight) + "\"" + after_tag_name +
         text_at(kHoverMargin, hover_line(0), cut_short(name, kHoverLetters), " class=\"ink\"") + "</g>\n";
}

}  // namespace molgraph
