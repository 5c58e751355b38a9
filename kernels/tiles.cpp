// The n-puzzle: chooses the search.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "astar.hpp"
#include "bindings.hpp"
#include "control.hpp"
#include "tiles_board.hpp"
#include "tiles_choice.hpp"
#include "tiles_heuristics.hpp"
#include "tiles_idastar.hpp"
#include "tiles_order_search.hpp"
#include "tiles_space.hpp"
#include "two_way.hpp"
#include "undirected.hpp"

namespace nb = nanobind;

namespace unjam::tiles {

enum class Algorithm { bfs, two_way, astar, idastar };

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

// A search of at most so many nodes. One that they end has the reason "nodes"; the budget allows more.
template <class Search>
static Result begun(Search& search, const Board& board, Meter& meter, std::uint64_t most, Result so_far = {}) {
  const std::uint64_t nodes = meter.limit_nodes(most);
  Result result = idastar(search, board, meter, std::move(so_far));
  meter.limit_nodes(nodes);
  return result;
}

// The Manhattan distance needs no table, and in the time in which any is made it has solved an easy board. A board that
// takes more nodes than kEasy goes on with merged order tables, which are made in a moment; a 4x4 board that takes more
// than kPatience, about the time it takes to make the exact tables, with those where the budget leaves room for them.
// Once they are there they come after the easy part. That is always done, so that the nodes of easy boards are the same
// in every process.
template <class Shape>
static Result slides_by_order(Board& board, Meter& meter) {
  constexpr bool exact = std::is_same_v<Shape, FixedShape<4, 4>>;
  constexpr std::uint64_t kEasy = 100'000, kPatience = 10'000'000;
  constexpr double kSeconds = 10;
  Result result = bounded("nodes", board, Metric::slide);
  if (meter.nodes_left() > kEasy) {
    Manhattan<Shape> manhattan(board);
    SlideSearch<Shape, Manhattan<Shape>> search(board, manhattan, meter);
    result = begun(search, board, meter, kEasy);
    if (result.reason != "nodes") return result;
  }
  AxisTables<ExactOrderTable> exact_tables;
  if constexpr (exact) {
    if (exact_tables.fetch_built(board, meter)) {
      OrderSearch search(board, exact_tables, meter);
      return idastar(search, board, meter, std::move(result));
    }
  }
  AxisTables<OrderTable> tables;
  if (const char* reason = tables.fetch(board, meter)) {
    result.reason = reason;
    return result;
  }
  WalkingSlides<Shape> heuristic(board, tables);
  SlideSearch<Shape, WalkingSlides<Shape>> search(board, heuristic, meter);
  if constexpr (!exact) return idastar(search, board, meter, std::move(result));

  const bool switches = meter.seconds_left() >= kSeconds && meter.affords(2 * ExactOrderTable::kBytes) &&
                        meter.generated + meter.nodes_left() > kPatience;
  if (!switches) return idastar(search, board, meter, std::move(result));
  result = begun(search, board, meter, kPatience, std::move(result));
  if (result.reason != "nodes") return result;
  if (const char* reason = exact_tables.fetch(board, meter)) {
    result.reason = reason;
    return result;
  }
  OrderSearch better(board, exact_tables, meter);
  return idastar(better, board, meter, std::move(result));
}

static Result idastar_in_slides(Board& board, Heuristic heuristic, Meter& meter) {
  return with_shape(board, [&]<class Shape>(std::type_identity<Shape>) -> Result {
    if (heuristic == Heuristic::manhattan) {
      Manhattan<Shape> manhattan(board);
      SlideSearch<Shape, Manhattan<Shape>> search(board, manhattan, meter);
      return idastar(search, board, meter);
    }
    if constexpr (Shape::kWalks) return slides_by_order<Shape>(board, meter);
    return {};
  });
}

static Result idastar_in_steps(Board& board, Heuristic heuristic, const PatternTable* table, Meter& meter) {
  Result result;
  const char* reason = with_steps(board, heuristic, table, meter,
                                  [&](Steps& search) { result = idastar(search, board, meter); });
  return reason ? bounded(reason, board, Metric::step) : result;
}

template <int Words>
static Result search_space(const Board& board, Metric metric, Algorithm algorithm, Bound bound, Meter& meter) {
  TilesSpace<Words> space(board, metric == Metric::slide, std::move(bound));
  if (algorithm == Algorithm::bfs) return undirected(space, meter);
  return algorithm == Algorithm::two_way ? two_way(space, meter) : a_star(space, meter);
}

// Only A* needs a bound.
static Result search_states(const Board& board, Metric metric, Algorithm algorithm, Bound bound, Meter& meter) {
  if (board.size() <= 16) return search_space<1>(board, metric, algorithm, std::move(bound), meter);
  if (board.size() <= 25) return search_space<2>(board, metric, algorithm, std::move(bound), meter);
  return search_space<4>(board, metric, algorithm, std::move(bound), meter);
}

static Result search(Board& board, Metric metric, Algorithm algorithm, Heuristic heuristic, const PatternTable* table,
                     Meter& meter) {
  Bound bound;
  if (algorithm == Algorithm::bfs || algorithm == Algorithm::two_way) {
    return search_states(board, metric, algorithm, bound, meter);
  }
  if (!board.solvable()) {
    Result result;
    result.outcome = "unsolvable";
    return result;
  }
  if (algorithm == Algorithm::astar) {
    const char* reason = choose_bound(board, metric, heuristic, table, meter, bound);
    return reason ? bounded(reason, board, metric) : search_states(board, metric, algorithm, bound, meter);
  }
  return metric == Metric::slide ? idastar_in_slides(board, heuristic, meter)
                                 : idastar_in_steps(board, heuristic, table, meter);
}

static Metric metric_named(const std::string& name) {
  return choose<Metric>(name, {{"step", Metric::step}, {"slide", Metric::slide}});
}

static Result solve(int width, int height, const std::vector<int>& cells, int blank_goal,
                    const std::string& metric_name, const std::string& algorithm_name,
                    const std::string& heuristic_name, const Limits& limits, Control& control,
                    const PatternTable* table) {
  const Metric metric = metric_named(metric_name);
  const auto algorithm = choose<Algorithm>(
      algorithm_name, {{"bfs", Algorithm::bfs},
                       {"two-way", Algorithm::two_way},
                       {"astar", Algorithm::astar},
                       {"idastar", Algorithm::idastar}});
  const Heuristic heuristic = heuristic_named(heuristic_name);
  check_board(width, height, cells, blank_goal);
  const bool blind = algorithm == Algorithm::bfs || algorithm == Algorithm::two_way;
  require(blind || heuristic != Heuristic::none, algorithm_name + " needs a heuristic");

  nb::gil_scoped_release released;
  Meter meter(limits, control);
  Board board(width, height, cells, blank_goal);
  check_heuristic(board, blank_goal, metric, heuristic, table);
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
