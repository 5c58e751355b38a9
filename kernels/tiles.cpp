// The n-puzzle: chooses the search, the heuristic and the board size that was compiled for it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <limits>
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
#include "tiles_split.hpp"
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
static auto with_shape(const Board& board, Run run) {
  if (board.width == 3 && board.height == 3) return run(std::type_identity<FixedShape<3, 3>>{});
  if (board.width == 4 && board.height == 4) return run(std::type_identity<FixedShape<4, 4>>{});
  if (board.width == 5 && board.height == 5) return run(std::type_identity<FixedShape<5, 5>>{});
  return run(std::type_identity<AnyShape>{});
}

template <class Shape, class H, class Run>
static void run_steps(Board& board, H heuristic, Meter& meter, Run run) {
  StepSearch<Shape, H> search(board, heuristic, meter);
  run(search);
}

template <class Shape, int Patterns, bool Reflected, class Run>
static void run_patterns(Board& board, const PatternTable& table, Meter& meter, Run run) {
  run_steps<Shape>(board, PatternSum<Shape, Patterns, Reflected>(board, table), meter, run);
}

// Compiled apart are the tables of the 15-puzzle and of the 24-puzzle.
template <class Run>
static void with_patterns(Board& board, const PatternTable& table, Meter& meter, Run run) {
  using Four = FixedShape<4, 4>;
  using Five = FixedShape<5, 5>;
  const int patterns = table.patterns();
  if (!table.reflects()) return run_patterns<AnyShape, kMaxPatterns, false>(board, table, meter, run);
  if (board.width == 4 && patterns == 2) return run_patterns<Four, 2, true>(board, table, meter, run);
  if (board.width == 4 && patterns == 3) return run_patterns<Four, 3, true>(board, table, meter, run);
  if (board.width == 5 && patterns == 4) return run_patterns<Five, 4, true>(board, table, meter, run);
  return run_patterns<AnyShape, kMaxPatterns, true>(board, table, meter, run);
}

// Runs a depth-first search in steps; the reason why not, where its tables cannot be made.
template <class Run>
static const char* with_steps(Board& board, Heuristic heuristic, const PatternTable* table, Meter& meter, Run run) {
  if (heuristic == Heuristic::pdb) {
    with_patterns(board, *table, meter, run);
    return nullptr;
  }
  return with_shape(board, [&]<class Shape>(std::type_identity<Shape>) -> const char* {
    if (heuristic == Heuristic::manhattan) run_steps<Shape>(board, Manhattan<Shape>(board), meter, run);
    if (heuristic == Heuristic::linear_conflict) run_steps<Shape>(board, LinearConflict<Shape>(board), meter, run);
    if constexpr (Shape::kWalks) {
      if (heuristic == Heuristic::walking_distance) {
        using Entry = std::conditional_t<Shape::kPacked, std::uint16_t, std::uint32_t>;
        AxisTables<WalkingTable<Entry>> tables;
        if (const char* reason = tables.fetch(board, meter)) return reason;
        run_steps<Shape>(board, WalkingSteps<Shape, Entry>(board, tables), meter, run);
      }
    }
    return nullptr;
  });
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
  if (!switches) return idastar(search, board, meter);
  const std::uint64_t nodes = meter.limit_nodes(kPatience);
  Result result = idastar(search, board, meter);
  if (result.reason != "nodes") return result;
  meter.limit_nodes(nodes);
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
                                  [&](auto& search) { result = idastar(search, board, meter); });
  return reason ? bounded(reason, board, Metric::step) : result;
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

// The bound of a heuristic; the reason why not, where its tables cannot be made.
static const char* choose_bound(const Board& board, Metric metric, Heuristic heuristic, const PatternTable* table,
                                Meter& meter, Bound& bound) {
  if (heuristic == Heuristic::manhattan) bound = bound_of(metric, Manhattan<AnyShape>(board));
  if (heuristic == Heuristic::pdb) {
    bound = table->reflects() ? bound_of(metric, PatternSum<AnyShape, kMaxPatterns, true>(board, *table))
                              : bound_of(metric, PatternSum<AnyShape, kMaxPatterns, false>(board, *table));
  }
  if (heuristic == Heuristic::linear_conflict) bound = bound_of(metric, LinearConflict<AnyShape>(board));
  if (heuristic == Heuristic::walking_distance && metric == Metric::step) {
    AxisTables<WalkingTable<std::uint32_t>> tables;
    if (const char* reason = tables.fetch(board, meter)) return reason;
    bound = bound_of(metric, WalkingSteps<AnyShape, std::uint32_t>(board, tables));
  }
  if (heuristic == Heuristic::walking_distance && metric == Metric::slide) {
    AxisTables<OrderTable> tables;
    if (const char* reason = tables.fetch(board, meter)) return reason;
    bound = bound_of(metric, WalkingSlides<AnyShape>(board, tables));
  }
  return nullptr;
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

static void require(bool holds, const std::string& otherwise) {
  if (!holds) throw std::invalid_argument("tiles: " + otherwise);
}

static Metric metric_named(const std::string& name) {
  return choose<Metric>(name, {{"step", Metric::step}, {"slide", Metric::slide}});
}

static Heuristic heuristic_named(const std::string& name) {
  return choose<Heuristic>(name, {{"none", Heuristic::none},
                                  {"manhattan", Heuristic::manhattan},
                                  {"linear-conflict", Heuristic::linear_conflict},
                                  {"walking-distance", Heuristic::walking_distance},
                                  {"pdb", Heuristic::pdb}});
}

static void check_heuristic(const Board& board, int blank_goal, Metric metric, Heuristic heuristic,
                            const PatternTable* table) {
  require(heuristic != Heuristic::linear_conflict || metric == Metric::step,
          "linear-conflict is no lower bound on slides; use walking-distance or manhattan");
  require(heuristic != Heuristic::pdb || metric == Metric::step, "pattern databases count steps, not slides");
  require(heuristic != Heuristic::walking_distance || walking_distance_fits(board.width, board.height, blank_goal),
          "the walking-distance table of this size is too large; use linear-conflict or manhattan");
  require(heuristic != Heuristic::pdb || (table && table->fits(board)), "pdb needs the table of this size and goal");
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
  nb::gil_scoped_release released;
  const Board board = divisible(width, height, cells, blank_goal, heuristic, table);
  Control control;
  constexpr auto kNoLimit = std::numeric_limits<std::uint64_t>::max();
  Meter meter({std::numeric_limits<double>::infinity(), kNoLimit, kNoLimit}, control);
  Bound bound;
  choose_bound(board, Metric::step, heuristic, table, meter, bound);
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
  const auto run = [&](auto& search) { search_units(search, board, bound, units, resume, meter, slice); };
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

// The bound that IDA* begins with.
static int first_bound(int width, int height, const std::vector<int>& cells, int blank_goal,
                       const std::string& heuristic_name, const PatternTable* table) {
  Control control;
  return solve(width, height, cells, blank_goal, "step", "idastar", heuristic_name,
               {std::numeric_limits<double>::infinity(), 1, std::numeric_limits<std::uint64_t>::max()}, control, table)
      .lower;
}

}  // namespace unjam::tiles

namespace unjam {

void bind_tiles(nb::module_& module) {
  module.def("tiles", &tiles::solve, nb::arg("width"), nb::arg("height"), nb::arg("board"), nb::arg("blank_goal"),
             nb::arg("metric"), nb::arg("algorithm"), nb::arg("heuristic"), nb::arg("limits"), nb::arg("control"),
             nb::arg("table").none() = nb::none());
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
  module.def("walking_distance_fits", &tiles::walking_distance_fits, nb::arg("width"), nb::arg("height"),
             nb::arg("blank_goal"));
}

}  // namespace unjam
