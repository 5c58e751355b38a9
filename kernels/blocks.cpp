// Klotski, rush and parkout as Python calls them: checks what it is given, picks space and algorithm.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "algorithm.hpp"
#include "bindings.hpp"
#include "blocks_input.hpp"
#include "checker.hpp"
#include "klotski_search.hpp"
#include "parkout_search.hpp"
#include "rush_search.hpp"
#include "undirected.hpp"

namespace nb = nanobind;

namespace unjam {

namespace {

// Runs without the GIL.
template <class Run>
Result released(const Limits& limits, Control& control, Run&& run) {
  const nb::gil_scoped_release release;
  Meter meter(limits, control);
  return *within_memory(meter, [&] { return std::optional(run(meter)); });
}

Result search_pieces(const Layout& layout, const Blocks& blocks, Algorithm algorithm, Meter& meter) {
  const int words = blocks.packing().words;
  return with_words(words, [&](auto count) {
    KlotskiPieces<count> space(layout, blocks);
    return algorithm == Algorithm::bfs ? undirected(space, meter) : informed(space, algorithm, meter);
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

Result rush(int width, int height, const Ints& board, int primary, int goal_cell, const std::string& metric_name,
            const std::string& algorithm, const Limits& limits, Control& control) {
  const Layout layout(width, height, board);
  const Metric metric = rush_metric(metric_name);
  const RushGoal goal = rush_goal(layout, primary, goal_cell);
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
  const Lot lot = parkout_lot(layout, noses, fixed, opens, closes);
  const Algorithm chosen = algorithm_named(algorithm);
  return released(limits, control, [&](Meter& meter) { return search_parkout(layout, lot, prune, chosen, meter); });
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
