#include "tiles_choice.hpp"

#include <cstdint>

#include "tiles_heuristics.hpp"
#include "tiles_order_search.hpp"
#include "tiles_walking_distance.hpp"

namespace unjam::tiles {

using Run = std::function<void(Steps&)>;

bool walking_distance_fits(int width, int height, int blank_goal) {
  require(width >= 2 && width <= kMaxSide && height >= 2 && height <= kMaxSide, "a board has 2 to 6 rows and columns");
  require(blank_goal >= 0 && blank_goal < width * height, "blank_goal is off the board");
  const WalkingSpace rows{height, width, blank_goal / width}, columns{width, height, blank_goal % width};
  return rows.fits() && columns.fits();
}

Heuristic heuristic_named(const std::string& name) {
  return choose<Heuristic>(name, {{"none", Heuristic::none},
                                  {"manhattan", Heuristic::manhattan},
                                  {"linear-conflict", Heuristic::linear_conflict},
                                  {"walking-distance", Heuristic::walking_distance},
                                  {"pdb", Heuristic::pdb}});
}

void check_heuristic(const Board& board, int blank_goal, Metric metric, Heuristic heuristic,
                     const PatternTable* table) {
  require(heuristic != Heuristic::linear_conflict || metric == Metric::step,
          "linear-conflict is no lower bound on slides; use walking-distance or manhattan");
  require(heuristic != Heuristic::pdb || metric == Metric::step, "pattern databases count steps, not slides");
  require(heuristic != Heuristic::walking_distance || walking_distance_fits(board.width, board.height, blank_goal),
          "the walking-distance table of this size is too large; use linear-conflict or manhattan");
  require(heuristic != Heuristic::pdb || (table && table->fits(board)), "pdb needs the table of this size and goal");
}

template <class Shape, class H>
static void run_steps(Board& board, H heuristic, Meter& meter, const Run& run) {
  StepSearch<Shape, H> search(board, heuristic, meter);
  run(search);
}

template <class Shape, int Patterns, bool Reflected>
static void run_patterns(Board& board, const PatternTable& table, Meter& meter, const Run& run) {
  run_steps<Shape>(board, PatternSum<Shape, Patterns, Reflected>(board, table), meter, run);
}

// Compiled apart are the tables of the 15-puzzle and of the 24-puzzle.
static void with_patterns(Board& board, const PatternTable& table, Meter& meter, const Run& run) {
  using Four = FixedShape<4, 4>;
  using Five = FixedShape<5, 5>;
  const int patterns = table.patterns();
  if (!table.reflects()) return run_patterns<AnyShape, kMaxPatterns, false>(board, table, meter, run);
  if (board.width == 4 && patterns == 2) return run_patterns<Four, 2, true>(board, table, meter, run);
  if (board.width == 4 && patterns == 3) return run_patterns<Four, 3, true>(board, table, meter, run);
  if (board.width == 5 && patterns == 4) return run_patterns<Five, 4, true>(board, table, meter, run);
  return run_patterns<AnyShape, kMaxPatterns, true>(board, table, meter, run);
}

const char* with_steps(Board& board, Heuristic heuristic, const PatternTable* table, Meter& meter, const Run& run) {
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

const char* choose_bound(const Board& board, Metric metric, Heuristic heuristic, const PatternTable* table,
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

}  // namespace unjam::tiles
