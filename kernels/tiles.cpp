// The n-puzzle: chooses the search, the heuristic and the board size that was compiled for it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "astar.hpp"
#include "bfs.hpp"
#include "bindings.hpp"
#include "control.hpp"
#include "tiles_board.hpp"
#include "tiles_heuristics.hpp"
#include "tiles_idastar.hpp"
#include "tiles_order_search.hpp"
#include "tiles_pattern_sum.hpp"
#include "tiles_space.hpp"
#include "tiles_walking_distance.hpp"
#include "two_way.hpp"

namespace nb = nanobind;

namespace unjam::tiles {

enum class Metric { step, slide };
enum class Algorithm { bfs, two_way, astar, idastar };
enum class Heuristic { none, manhattan, linear_conflict, walking_distance, pdb };

template <class Choice>
static Choice choose(const std::string& name, std::initializer_list<std::pair<const char*, Choice>> choices) {
  for (const auto& [known, choice] : choices) {
    if (name == known) return choice;
  }
  throw std::invalid_argument("tiles: there is no " + name);
}

static bool walking_distance_fits(int width, int height, int blank_goal) {
  const WalkingSpace rows{height, width, blank_goal / width}, columns{width, height, blank_goal % width};
  return rows.fits() && columns.fits();
}

// Stopped before the search began.
static Result bounded(const char* reason, const Board& board, Metric metric) {
  const Manhattan<AnyShape> manhattan(board);
  const auto value = manhattan.start(board);
  Result result;
  result.outcome = "bounded";
  result.reason = reason;
  result.lower = metric == Metric::step ? manhattan.steps(value)
                                        : manhattan.vertical_slides(value) + manhattan.horizontal_slides(value);
  return result;
}

// The sizes that are compiled apart: the usual square boards.
template <class Run>
static Result with_shape(const Board& board, Run run) {
  if (board.width == 3 && board.height == 3) return run(std::type_identity<FixedShape<3, 3>>{});
  if (board.width == 4 && board.height == 4) return run(std::type_identity<FixedShape<4, 4>>{});
  if (board.width == 5 && board.height == 5) return run(std::type_identity<FixedShape<5, 5>>{});
  return run(std::type_identity<AnyShape>{});
}

template <class Shape, class H>
static Result deepen(Board& board, Metric metric, H heuristic, Meter& meter) {
  if constexpr (requires { &H::steps; }) {
    if (metric == Metric::step) {
      StepSearch<Shape, H> search(board, heuristic, meter);
      return idastar(search, board, meter);
    }
  }
  if constexpr (requires { &H::vertical_slides; }) {
    SlideSearch<Shape, H> search(board, heuristic, meter);
    return idastar(search, board, meter);
  }
  return {};
}

template <class Shape, int Patterns, bool Reflected>
static Result deepen_by_patterns(Board& board, const PatternTable& table, Meter& meter) {
  return deepen<Shape>(board, Metric::step, PatternSum<Shape, Patterns, Reflected>(board, table), meter);
}

// Compiled apart are the tables of the 15-puzzle and of the 24-puzzle.
static Result idastar_by_patterns(Board& board, const PatternTable& table, Meter& meter) {
  if (!table.reflects()) return deepen_by_patterns<AnyShape, kMaxPatterns, false>(board, table, meter);
  if (board.width == 4 && table.patterns() == 2) return deepen_by_patterns<FixedShape<4, 4>, 2, true>(board, table, meter);
  if (board.width == 4 && table.patterns() == 3) return deepen_by_patterns<FixedShape<4, 4>, 3, true>(board, table, meter);
  if (board.width == 5 && table.patterns() == 4) return deepen_by_patterns<FixedShape<5, 5>, 4, true>(board, table, meter);
  return deepen_by_patterns<AnyShape, kMaxPatterns, true>(board, table, meter);
}

// Merged order tables, which are made in a moment, first; a 4x4 board that takes more nodes than kPatience, about the
// time it takes to make the exact tables, goes on with those where the budget leaves room for them. Once they are there
// they are used from the start.
template <class Shape>
static Result slides_by_order(Board& board, Meter& meter) {
  constexpr bool exact = std::is_same_v<Shape, FixedShape<4, 4>>;
  constexpr std::uint64_t kPatience = 10'000'000;
  constexpr double kSeconds = 10;
  AxisTables<ExactOrderTable> exact_tables;
  if constexpr (exact) {
    if (exact_tables.fetch_built(board, meter)) {
      OrderSearch search(board, exact_tables, meter);
      return idastar(search, board, meter);
    }
  }
  AxisTables<OrderTable> tables;
  if (const char* reason = tables.fetch(board, meter)) return bounded(reason, board, Metric::slide);
  WalkingSlides<Shape> heuristic(board, tables);
  SlideSearch<Shape, WalkingSlides<Shape>> search(board, heuristic, meter);
  if constexpr (!exact) return idastar(search, board, meter);

  const bool switches = meter.seconds_left() >= kSeconds && meter.affords(2 * ExactOrderTable::kBytes) &&
                        meter.nodes_left() > kPatience;
  const std::uint64_t nodes = meter.nodes_left();
  if (switches) meter.limit_nodes(kPatience);
  Result result = idastar(search, board, meter);
  if (!switches || result.reason != "nodes") return result;
  meter.limit_nodes(nodes);
  if (const char* reason = exact_tables.fetch(board, meter)) {
    result.reason = reason;
    return result;
  }
  OrderSearch better(board, exact_tables, meter);
  return idastar(better, board, meter, std::move(result));
}

template <class Shape>
static Result idastar_of_shape(Board& board, Metric metric, Heuristic heuristic, Meter& meter) {
  if (heuristic == Heuristic::manhattan) return deepen<Shape>(board, metric, Manhattan<Shape>(board), meter);
  if (heuristic == Heuristic::linear_conflict) return deepen<Shape>(board, metric, LinearConflict<Shape>(board), meter);
  if constexpr (Shape::kWalks) {
    if (metric == Metric::slide) return slides_by_order<Shape>(board, meter);
    using Entry = std::conditional_t<Shape::kPacked, std::uint16_t, std::uint32_t>;
    AxisTables<WalkingTable<Entry>> tables;
    if (const char* reason = tables.fetch(board, meter)) return bounded(reason, board, metric);
    return deepen<Shape>(board, metric, WalkingSteps<Shape, Entry>(board, tables), meter);
  }
  return {};
}

// A board's bound from nothing. In slides the sum of both axes, which is consistent.
template <class H>
static Bound bound_of(Metric metric, H heuristic) {
  return [metric, heuristic](const Board& board) mutable {
    const auto value = heuristic.start(board);
    if constexpr (requires { heuristic.vertical_slides(value); }) {
      if (metric == Metric::slide) return heuristic.vertical_slides(value) + heuristic.horizontal_slides(value);
    }
    if constexpr (requires { heuristic.steps(value); }) return heuristic.steps(value);
    return 0;
  };
}

template <int Words>
static Result search_space(const Board& board, Metric metric, Algorithm algorithm, Bound bound, Meter& meter) {
  TilesSpace<Words> space(board, metric == Metric::slide, std::move(bound));
  if (algorithm == Algorithm::bfs) return breadth_first(space, meter);
  return algorithm == Algorithm::two_way ? two_way(space, meter) : a_star(space, meter);
}

// Only A* needs a bound.
static Result search_states(const Board& board, Metric metric, Algorithm algorithm, Bound bound, Meter& meter) {
  if (board.size() <= 16) return search_space<1>(board, metric, algorithm, std::move(bound), meter);
  if (board.size() <= 25) return search_space<2>(board, metric, algorithm, std::move(bound), meter);
  return search_space<4>(board, metric, algorithm, std::move(bound), meter);
}

static Result astar(const Board& board, Metric metric, Heuristic heuristic, const PatternTable* table, Meter& meter) {
  Bound bound = bound_of(metric, Manhattan<AnyShape>(board));
  if (heuristic == Heuristic::pdb) {
    bound = table->reflects() ? bound_of(metric, PatternSum<AnyShape, kMaxPatterns, true>(board, *table))
                              : bound_of(metric, PatternSum<AnyShape, kMaxPatterns, false>(board, *table));
  }
  if (heuristic == Heuristic::linear_conflict) bound = bound_of(metric, LinearConflict<AnyShape>(board));
  if (heuristic == Heuristic::walking_distance && metric == Metric::step) {
    AxisTables<WalkingTable<std::uint32_t>> tables;
    if (const char* reason = tables.fetch(board, meter)) return bounded(reason, board, metric);
    bound = bound_of(metric, WalkingSteps<AnyShape, std::uint32_t>(board, tables));
  }
  if (heuristic == Heuristic::walking_distance && metric == Metric::slide) {
    AxisTables<OrderTable> tables;
    if (const char* reason = tables.fetch(board, meter)) return bounded(reason, board, metric);
    bound = bound_of(metric, WalkingSlides<AnyShape>(board, tables));
  }
  return search_states(board, metric, Algorithm::astar, std::move(bound), meter);
}

static Result search(Board& board, Metric metric, Algorithm algorithm, Heuristic heuristic, const PatternTable* table,
                     Meter& meter) {
  if (algorithm == Algorithm::bfs || algorithm == Algorithm::two_way) {
    return search_states(board, metric, algorithm, nullptr, meter);
  }
  if (!board.solvable()) {
    Result result;
    result.outcome = "unsolvable";
    return result;
  }
  if (algorithm == Algorithm::astar) return astar(board, metric, heuristic, table, meter);
  if (heuristic == Heuristic::pdb) return idastar_by_patterns(board, *table, meter);
  return with_shape(board, [&]<class Shape>(std::type_identity<Shape>) {
    return idastar_of_shape<Shape>(board, metric, heuristic, meter);
  });
}

static void require(bool holds, const std::string& otherwise) {
  if (!holds) throw std::invalid_argument("tiles: " + otherwise);
}

static Result solve(int width, int height, const std::vector<int>& cells, int blank_goal,
                    const std::string& metric_name, const std::string& algorithm_name,
                    const std::string& heuristic_name, const Limits& limits, Control& control,
                    const PatternTable* table) {
  const auto metric = choose<Metric>(metric_name, {{"step", Metric::step}, {"slide", Metric::slide}});
  const auto algorithm = choose<Algorithm>(
      algorithm_name, {{"bfs", Algorithm::bfs},
                       {"two-way", Algorithm::two_way},
                       {"astar", Algorithm::astar},
                       {"idastar", Algorithm::idastar}});
  const auto heuristic = choose<Heuristic>(heuristic_name, {{"none", Heuristic::none},
                                                            {"manhattan", Heuristic::manhattan},
                                                            {"linear-conflict", Heuristic::linear_conflict},
                                                            {"walking-distance", Heuristic::walking_distance},
                                                            {"pdb", Heuristic::pdb}});
  check_board(width, height, cells, blank_goal);
  const bool blind = algorithm == Algorithm::bfs || algorithm == Algorithm::two_way;
  require(blind || heuristic != Heuristic::none, algorithm_name + " needs a heuristic");
  require(heuristic != Heuristic::linear_conflict || metric == Metric::step,
          "linear-conflict is no lower bound on slides; use walking-distance or manhattan");
  require(heuristic != Heuristic::pdb || metric == Metric::step, "pattern databases count steps, not slides");
  require(heuristic != Heuristic::walking_distance || walking_distance_fits(width, height, blank_goal),
          "the walking-distance table of this size is too large; use linear-conflict or manhattan");

  nb::gil_scoped_release released;
  Meter meter(limits, control);
  Board board(width, height, cells, blank_goal);
  require(heuristic != Heuristic::pdb || (table && table->fits(board)), "pdb needs the table of this size and goal");
  Result result;
  try {
    result = search(board, metric, algorithm, heuristic, table, meter);
  } catch (const std::bad_alloc&) {
    result = bounded("bytes", board, metric);
  }
  result.expanded = meter.expanded;
  result.generated = meter.generated;
  result.peak_bytes = meter.peak_bytes();
  return result;
}

}  // namespace unjam::tiles

namespace unjam {

void bind_tiles(nb::module_& module) {
  module.def("tiles", &tiles::solve, nb::arg("width"), nb::arg("height"), nb::arg("board"), nb::arg("blank_goal"),
             nb::arg("metric"), nb::arg("algorithm"), nb::arg("heuristic"), nb::arg("limits"), nb::arg("control"),
             nb::arg("table").none() = nb::none());
  module.def("walking_distance_fits", &tiles::walking_distance_fits, nb::arg("width"), nb::arg("height"),
             nb::arg("blank_goal"));
}

}  // namespace unjam
