// The n-puzzle on many workers: dividing a search, and searching a slice of it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "control.hpp"
#include "tiles_choice.hpp"
#include "tiles_split.hpp"

namespace nb = nanobind;

namespace unjam::tiles {

static constexpr Limits kNoLimits{std::numeric_limits<double>::infinity(), std::numeric_limits<std::uint64_t>::max(),
                                  std::numeric_limits<std::uint64_t>::max()};

static constexpr double kMostPieces = 1'000'000;  // nothing else limits the memory that they take
static constexpr const char* kTooMany = "a search is divided into at most 1,000,000 pieces";

// A Board whose steps are counted by a heuristic: what is divided.
static Board divisible(int width, int height, const std::vector<int>& cells, int blank_goal, Heuristic heuristic,
                       const PatternTable* table) {
  check_board(width, height, cells, blank_goal);
  require(heuristic != Heuristic::none, "IDA* needs a heuristic");
  Board board(width, height, cells, blank_goal);
  check_heuristic(board, blank_goal, Metric::step, heuristic, table);
  require(board.solvable(), "this board has no solution");
  return board;
}

static Division divide(int width, int height, const std::vector<int>& cells, int blank_goal,
                       const std::string& heuristic_name, const std::vector<Unit>& units,
                       const std::vector<double>& pieces, const PatternTable* table) {
  const Heuristic heuristic = heuristic_named(heuristic_name);
  require(units.size() == pieces.size(), "each unit needs its number of pieces");
  double sum = 0;
  for (const double some : pieces) {
    require(some <= kMostPieces, kTooMany);  // NaN is not
    sum += std::max(some, 0.0);
  }
  require(sum <= kMostPieces, kTooMany);
  nb::gil_scoped_release released;
  const Board board = divisible(width, height, cells, blank_goal, heuristic, table);
  Control control;
  Meter meter(kNoLimits, control);
  Bound bound;
  if (choose_bound(board, Metric::step, heuristic, table, meter, bound)) throw std::bad_alloc();
  Divider divider(board, bound);
  for (std::size_t i = 0; i < units.size(); ++i) {
    require(divider.add(units[i], pieces[i]), "a unit's way is not legal");
  }
  return divider.run();
}

static Slice search_slice(int width, int height, const std::vector<int>& cells, int blank_goal,
                          const std::string& heuristic_name, int bound, const std::vector<Unit>& units,
                          const std::string& resume, const Limits& limits, Control& control,
                          const PatternTable* table) {
  const Heuristic heuristic = heuristic_named(heuristic_name);
  require(bound >= 0 && bound <= static_cast<int>(kMaxDepth), "a bound is from 0 to 1024");
  nb::gil_scoped_release released;
  Meter meter(limits, control);
  Board board = divisible(width, height, cells, blank_goal, heuristic, table);
  bool legal = true;
  for (const Unit& unit : units) {
    directions(board, unit.way, legal);
    require(legal, "a unit's way is not legal");
  }
  directions(board, resume, legal);
  require(legal && (resume.empty() || (!units.empty() && resume.starts_with(units[0].way))),
          "the search cannot go on where it is told to");
  Slice slice;
  const auto run = [&](Steps& search) { search_units(search, board, bound, units, resume, meter, slice); };
  const char* reason = nullptr;
  try {
    reason = with_steps(board, heuristic, table, meter, run);
  } catch (const std::bad_alloc&) {
    reason = "bytes";
  }
  if (reason) {
    slice.outcome = "bounded";
    slice.reason = reason;
    slice.lower = bound;
    slice.resume = resume;
  }
  slice.peak_bytes = meter.peak_bytes();
  return slice;
}

// The bound that IDA* begins with. Without limits nothing but memory can be short, here and in `divide`.
static int first_bound(int width, int height, const std::vector<int>& cells, int blank_goal,
                       const std::string& heuristic_name, const PatternTable* table) {
  const Heuristic heuristic = heuristic_named(heuristic_name);
  nb::gil_scoped_release released;
  Board board = divisible(width, height, cells, blank_goal, heuristic, table);
  Control control;
  Meter meter(kNoLimits, control);
  int bound = 0;
  if (with_steps(board, heuristic, table, meter, [&](Steps& search) { bound = search.first_bound(); })) {
    throw std::bad_alloc();
  }
  return bound;
}

}  // namespace unjam::tiles

namespace unjam {

void bind_tiles_split(nb::module_& module) {
  nb::class_<tiles::Unit>(module, "Unit")
      .def(nb::init<std::string, int, std::uint64_t>(), nb::arg("way"), nb::arg("f"), nb::arg("weight"))
      .def_ro("way", &tiles::Unit::way)
      .def_ro("f", &tiles::Unit::f)
      .def_ro("weight", &tiles::Unit::weight);
  nb::class_<tiles::Interior>(module, "Interior")
      .def_ro("f", &tiles::Interior::f)
      .def_ro("expanded", &tiles::Interior::expanded)
      .def_ro("generated", &tiles::Interior::generated);
  nb::class_<tiles::Division>(module, "Division")
      .def_ro("units", &tiles::Division::units)
      .def_ro("interior", &tiles::Division::interior);
  nb::class_<tiles::Slice, Result>(module, "Slice")
      .def_ro("done", &tiles::Slice::done)
      .def_ro("resume", &tiles::Slice::resume)
      .def_ro("nodes", &tiles::Slice::nodes);
  module.def("first_bound", &tiles::first_bound, nb::arg("width"), nb::arg("height"), nb::arg("board"),
             nb::arg("blank_goal"), nb::arg("heuristic"), nb::arg("table").none() = nb::none());
  module.def("divide", &tiles::divide, nb::arg("width"), nb::arg("height"), nb::arg("board"), nb::arg("blank_goal"),
             nb::arg("heuristic"), nb::arg("units"), nb::arg("pieces"), nb::arg("table").none() = nb::none());
  module.def("search_slice", &tiles::search_slice, nb::arg("width"), nb::arg("height"), nb::arg("board"),
             nb::arg("blank_goal"), nb::arg("heuristic"), nb::arg("bound"), nb::arg("units"), nb::arg("resume"),
             nb::arg("limits"), nb::arg("control"), nb::arg("table").none() = nb::none());
}

}  // namespace unjam
