// Solutions of the n-puzzle that need not be the shortest: what there is to say when the budget of a search ends.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "control.hpp"
#include "tiles_beam.hpp"
#include "tiles_board.hpp"
#include "tiles_guides.hpp"
#include "tiles_heuristics.hpp"
#include "tiles_pattern_sum.hpp"
#include "tiles_placing.hpp"
#include "tiles_walking_distance.hpp"

namespace nb = nanobind;

namespace unjam::tiles {

// The best solution so far, in moves of the metric.
class Best {
 public:
  Best(const Way& way, bool slides, int lower, int width)
      : slides_(slides), stride_(slides ? 1 : 2), lower_(lower), width_(width) {
    take(way);
  }

  int moves() const { return static_cast<int>(way_.size()) - 1; }
  int improvement() const { return moves() - stride_; }
  int lower() const { return moves() - (moves() - lower_) / stride_ * stride_; }
  bool proven() const { return lower() == moves(); }
  const Way& way() const { return way_; }

  // Moves along one axis become one slide, and steps back and forth none.
  void take(const Way& way) {
    way_.clear();
    for (const int to : way) {
      bool returned = false;
      while (!returned && way_.size() > 1) {
        const int before = way_[way_.size() - 2];
        if (before != to && !(slides_ && in_line(before, way_.back()) == in_line(way_.back(), to))) break;
        way_.pop_back();
        returned = way_.back() == to;
      }
      if (!returned) way_.push_back(to);
    }
  }

 private:
  bool in_line(int from, int to) const { return from / width_ == to / width_; }

  bool slides_;
  int stride_;  // solutions in steps have one parity
  int lower_, width_;
  Way way_;
};

// Beams of growing width, the last of them as wide as what is left of the budget seems to allow.
template <class Shape, bool Slides, class Guide>
static void widen(const Board& board, Guide guide, Best& best, Meter& meter) {
  constexpr double kFirst = 16, kMost = 1 << 16, kGrowth = 4;
  Beam<Shape, Guide, Slides> beam(board, guide, meter);
  const char* stopped = meter.poll(0);
  for (double width = kFirst; !stopped && !best.proven();) {
    const double began = meter.elapsed();
    const std::uint64_t nodes = meter.generated;
    const Way way = beam.search(static_cast<std::uint32_t>(width), best.improvement(), stopped);
    if (!way.empty()) best.take(way);
    if (way.empty() && !beam.narrow()) return;
    const double affords = std::min(meter.seconds_left() / (meter.elapsed() - began),
                                    static_cast<double>(meter.nodes_left()) / static_cast<double>(meter.generated - nodes));
    const double growth = affords < kGrowth * kGrowth ? 0.9 * affords : kGrowth;
    if (growth < 1.2 || width == kMost) return;
    width = std::min(width * growth, kMost);
  }
}

template <class Shape, bool Slides, class Steps>
static void widen_by(const Board& board, Steps steps, Best& best, Meter& meter) {
  if constexpr (!Slides) {
    widen<Shape, Slides>(board, StepGuide<Steps>(std::move(steps)), best, meter);
  } else {
    using Bound = Manhattan<Shape>;
    widen<Shape, Slides>(board, SlideGuide<Steps, Bound>(std::move(steps), Bound(board), 1), best, meter);
  }
}

template <class Shape, bool Slides>
static void widen_of_shape(const Board& board, const PatternTable* table, Best& best, Meter& meter) {
  if (table && table->reflects()) {
    return widen_by<Shape, Slides>(board, PatternSum<Shape, kMaxPatterns, true>(board, *table), best, meter);
  }
  if (table) return widen_by<Shape, Slides>(board, PatternSum<Shape, kMaxPatterns, false>(board, *table), best, meter);
  LinearConflict<Shape> conflicts(board);
  if constexpr (Slides && Shape::kWalks) {
    using Bound = WalkingSlides<Shape>;
    constexpr double kSeconds = 1;  // to build tables in, a quarter of which they take, and to use them
    AxisTables<OrderTable> tables;
    if (row_space(board).fits() && column_space(board).fits() &&
        (tables.fetch_built(board, meter) || (meter.seconds_left() >= kSeconds && !tables.fetch(board, meter)))) {
      return widen<Shape, Slides>(board, SlideGuide<LinearConflict<Shape>, Bound>(conflicts, Bound(board, tables), 2),
                                  best, meter);
    }
  }
  widen_by<Shape, Slides>(board, conflicts, best, meter);
}

// The sizes that are compiled apart: the usual square boards.
template <bool Slides>
static void widen_of_size(const Board& board, const PatternTable* table, Best& best, Meter& meter) {
  if (board.width == 4 && board.height == 4) return widen_of_shape<FixedShape<4, 4>, Slides>(board, table, best, meter);
  if (board.width == 5 && board.height == 5) return widen_of_shape<FixedShape<5, 5>, Slides>(board, table, best, meter);
  widen_of_shape<AnyShape, Slides>(board, table, best, meter);
}

static Result upper(int width, int height, const std::vector<int>& cells, int blank_goal, const std::string& metric,
                    int lower, const Limits& limits, Control& control, const PatternTable* table) {
  const auto require = [](bool holds, const char* otherwise) {
    if (!holds) throw std::invalid_argument(std::string("tiles: ") + otherwise);
  };
  check_board(width, height, cells, blank_goal);
  const bool slides = metric == "slide";
  require(slides || metric == "step", "there are steps and slides only");
  require(lower >= 0, "no solution has less than 0 moves");
  nb::gil_scoped_release released;
  const Board board(width, height, cells, blank_goal);
  require(board.solvable(), "the board is not solvable");
  require(!table || table->fits(board), "the table is of another size or goal");
  Meter meter(limits, control);
  Best best(Placing(board, meter).solve(), slides, lower, width);
  try {
    slides ? widen_of_size<true>(board, table, best, meter) : widen_of_size<false>(board, table, best, meter);
  } catch (const std::bad_alloc&) {  // what was found stays
  }
  meter.poll(0);
  Result result;
  result.outcome = best.proven() ? "optimal" : "bounded";
  result.length = best.proven() ? best.moves() : -1;
  result.lower = best.lower();
  result.upper = best.moves();
  result.moves = board.moves(best.way());
  result.expanded = meter.expanded;
  result.generated = meter.generated;
  result.peak_bytes = meter.peak_bytes();
  return result;
}

}  // namespace unjam::tiles

namespace unjam {

void bind_tiles_upper(nb::module_& module) {
  module.def("tiles_upper", &tiles::upper, nb::arg("width"), nb::arg("height"), nb::arg("board"), nb::arg("blank_goal"),
             nb::arg("metric"), nb::arg("lower"), nb::arg("limits"), nb::arg("control"),
             nb::arg("table").none() = nb::none());
}

}  // namespace unjam
