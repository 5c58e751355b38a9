// Klotski, rush and parkout as Python calls them: checks what it is given, picks space and algorithm.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <new>

#include "astar.hpp"
#include "bfs.hpp"
#include "bindings.hpp"
#include "checker.hpp"
#include "idastar.hpp"
#include "klotski_pieces.hpp"
#include "klotski_search.hpp"
#include "layout.hpp"
#include "parkout.hpp"
#include "rush_search.hpp"

namespace nb = nanobind;

namespace unjam {

namespace {

using Ints = std::vector<int>;
using Pairs = std::vector<std::pair<int, int>>;

enum class Algorithm { bfs, astar, idastar };

Algorithm algorithm_named(const std::string& name) {
  if (name == "bfs") return Algorithm::bfs;
  if (name == "astar") return Algorithm::astar;
  require(name == "idastar", "the algorithm is bfs, astar or idastar");
  return Algorithm::idastar;
}

template <class Space>
Result search(Space& space, Algorithm algorithm, Meter& meter) {
  switch (algorithm) {
    case Algorithm::astar: return a_star(space, meter);
    case Algorithm::idastar: return ida_star(space, meter);
    default: return breadth_first(space, meter);
  }
}

// Runs without the GIL. The tables ask before they grow; should the small change beside them fail, that is a budget too.
template <class Run>
Result released(const Limits& limits, Control& control, Run&& run) {
  const nb::gil_scoped_release release;
  Meter meter(limits, control);
  try {
    return run(meter);
  } catch (const std::bad_alloc&) {
    Result result;
    result.outcome = "bounded";
    result.reason = "bytes";
    result.expanded = meter.expanded;
    result.generated = meter.generated;
    result.peak_bytes = meter.peak_bytes();
    return result;
  }
}

const std::vector<Direction> kAll = {kUp, kRight, kDown, kLeft};

std::vector<Direction> directions(Axis axis) {
  return axis == Axis::horizontal ? std::vector{kLeft, kRight} : std::vector{kUp, kDown};
}

Blocks klotski_blocks(const Layout& layout, const Ints& classes, const Ints& gates, const Ints& gate_classes,
                      const Pairs& goal, const std::string& metric) {
  Blocks blocks;
  blocks.metric = metric_named(metric);
  blocks.walls = layout.walls;
  require(static_cast<int>(classes.size()) == layout.count(), "classes must have an entry for each piece");
  for (int piece = 0; piece < layout.count(); ++piece) {
    const int klass = classes[piece];
    require(klass >= 0 && klass < kMaxCells, "a class is a number from 0");
    if (klass >= static_cast<int>(blocks.classes.size())) blocks.classes.resize(klass + 1);
    blocks.classes[klass].push_back(piece);
  }
  Cells closed = 0;
  for (const int cell : gates) {
    require(cell >= 0 && cell < layout.cells(), "a gate is a cell of the board");
    closed |= bit(cell);
  }
  const Cells floor = layout.all() & ~layout.walls;
  for (int klass = 0; klass < static_cast<int>(blocks.classes.size()); ++klass) {
    const auto& pieces = blocks.classes[klass];
    require(!pieces.empty(), "classes must be numbered 0, 1, 2, ... without a gap");
    for (const int piece : pieces) {
      require(layout.shape(piece) == layout.shape(pieces[0]), "pieces of one class must have one shape");
    }
    const bool passes = std::find(gate_classes.begin(), gate_classes.end(), klass) != gate_classes.end();
    blocks.tracks.push_back(make_track(layout, pieces, passes ? floor : floor & ~closed, kAll));
  }
  for (const auto& [klass, cell] : goal) {
    require(klass >= 0 && klass < static_cast<int>(blocks.classes.size()), "a goal's class has no pieces");
    require(cell >= 0 && cell < layout.cells(), "a goal is a cell of the board");
    blocks.goal.emplace_back(klass, cell);
  }
  return blocks;
}

Result search_pieces(const Layout& layout, const Blocks& blocks, Algorithm algorithm, Meter& meter) {
  const int words = blocks.packing().words;
  return with_words(words, [&](auto count) {
    KlotskiPieces<count> space(layout, blocks);
    return search(space, algorithm, meter);
  });
}

Result klotski(int width, int height, const Ints& board, const Ints& classes, const Ints& gates,
               const Ints& gate_classes, const Pairs& goal, const std::string& metric, const std::string& algorithm,
               const Limits& limits, Control& control) {
  const Layout layout(width, height, board);
  const Blocks blocks = klotski_blocks(layout, classes, gates, gate_classes, goal, metric);
  const Algorithm chosen = algorithm_named(algorithm);
  return released(limits, control, [&](Meter& meter) {
    if (chosen == Algorithm::bfs) {
      if (auto result = search_klotski(layout, blocks, meter)) return *std::move(result);
    }
    return search_pieces(layout, blocks, chosen, meter);
  });
}

Blocks rush_blocks(const Layout& layout, RushGoal goal, Metric metric) {
  Blocks blocks;
  blocks.metric = metric;
  blocks.walls = layout.walls;
  for (int car = 0; car < layout.count(); ++car) {
    blocks.classes.push_back({car});
    blocks.tracks.push_back(make_track(layout, {car}, layout.all() & ~layout.walls, directions(axis_of(layout, car))));
  }
  if (goal.cell >= 0) {
    blocks.goal.emplace_back(goal.primary, goal.cell);
    blocks.primary = goal.primary;
  }
  return blocks;
}

Result rush(int width, int height, const Ints& board, int primary, int goal_cell, const std::string& metric_name,
            const std::string& algorithm, const Limits& limits, Control& control) {
  const Layout layout(width, height, board);
  require(primary >= 0 && primary < layout.count(), "the primary car is not on the board");
  for (int car = 0; car < layout.count(); ++car) axis_of(layout, car);
  const Metric metric = metric_named(metric_name);
  require(metric != Metric::path, "rush has the metrics slide and step");
  require(goal_cell >= -1 && goal_cell < layout.cells(), "the goal is a cell of the board");
  const RushGoal goal{primary, goal_cell};
  const Algorithm chosen = algorithm_named(algorithm);
  return released(limits, control, [&](Meter& meter) {
    if (chosen == Algorithm::bfs) {
      if (auto result = search_lines(layout, goal, metric, meter)) return *std::move(result);
    }
    return search_pieces(layout, rush_blocks(layout, goal, metric), chosen, meter);
  });
}

Result parkout(int width, int height, const Ints& board, const Ints& noses, const std::vector<bool>& fixed,
               const Ints& opens, const Ints& closes, bool prune, const std::string& algorithm, const Limits& limits,
               Control& control) {
  const Layout layout(width, height, board);
  require(static_cast<int>(noses.size()) == layout.count(), "noses must have an entry for each car");
  require(static_cast<int>(fixed.size()) == layout.count(), "fixed must have an entry for each car");
  const std::size_t slots = 2 * static_cast<std::size_t>(width + height);
  require(opens.size() == slots && closes.size() == slots, "there are 2 * (width + height) edge slots");
  Lot lot;
  lot.opens = opens;
  lot.closes = closes;
  lot.prune = prune;
  lot.obstacles = layout.walls;
  std::vector<Axis> axes;
  for (int car = 0; car < layout.count(); ++car) {
    axes.push_back(axis_of(layout, car));
    require(noses[car] >= kUp && noses[car] <= kLeft, "a nose is 0 to 3");
    require((noses[car] == kLeft || noses[car] == kRight) == (axes[car] == Axis::horizontal),
            "the nose is not at an end of the car");
    if (fixed[car]) {
      for (const int cell : layout.pieces[car]) lot.obstacles |= bit(cell);
    }
  }
  for (int car = 0; car < layout.count(); ++car) {
    if (fixed[car]) continue;
    lot.cars.push_back(car);
    lot.noses.push_back(noses[car]);
    lot.exits.push_back(exit_slot(layout, layout.pieces[car][0], noses[car]));
    lot.tracks.push_back(make_track(layout, {car}, layout.all() & ~lot.obstacles, directions(axes[car])));
  }
  const Algorithm chosen = algorithm_named(algorithm);
  return released(limits, control, [&](Meter& meter) {
    return with_words(lot.packing().words, [&](auto count) {
      Parkout<count> space(layout, lot);
      return search(space, chosen, meter);
    });
  });
}

}  // namespace

void bind_blocks(nb::module_& module) {
  using namespace nb::literals;
  module.def("klotski", &klotski, "width"_a, "height"_a, "board"_a, "classes"_a, "gates"_a, "gate_classes"_a, "goal"_a,
             "metric"_a, "algorithm"_a, "limits"_a, "control"_a);
  module.def("rush", &rush, "width"_a, "height"_a, "board"_a, "primary"_a, "goal_cell"_a, "metric"_a, "algorithm"_a,
             "limits"_a, "control"_a);
  module.def("parkout", &parkout, "width"_a, "height"_a, "board"_a, "noses"_a, "fixed"_a, "opens"_a, "closes"_a,
             "prune"_a, "algorithm"_a, "limits"_a, "control"_a);
  module.def("check_tiles", &checker::check_tiles, "width"_a, "height"_a, "board"_a, "blank_goal"_a, "metric"_a,
             "moves"_a);
  module.def("check_klotski", &checker::check_klotski, "width"_a, "height"_a, "board"_a, "classes"_a, "gates"_a,
             "gate_classes"_a, "goal"_a, "metric"_a, "moves"_a);
  module.def("check_rush", &checker::check_rush, "width"_a, "height"_a, "board"_a, "primary"_a, "goal_cell"_a,
             "metric"_a, "moves"_a);
  module.def("check_parkout", &checker::check_parkout, "width"_a, "height"_a, "board"_a, "noses"_a, "fixed"_a,
             "opens"_a, "closes"_a, "moves"_a);
}

}  // namespace unjam
