// Chooses the heuristic of the n-puzzle and the board size that was compiled for it.
#pragma once

#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "control.hpp"
#include "tiles_board.hpp"
#include "tiles_idastar.hpp"
#include "tiles_pattern_sum.hpp"
#include "tiles_space.hpp"

namespace unjam::tiles {

enum class Metric { step, slide };
enum class Heuristic { none, manhattan, linear_conflict, walking_distance, pdb };

template <class Choice>
Choice choose(const std::string& name, std::initializer_list<std::pair<const char*, Choice>> choices) {
  for (const auto& [known, choice] : choices) {
    if (name == known) return choice;
  }
  throw std::invalid_argument("tiles: there is no " + name);
}

inline void require(bool holds, const std::string& otherwise) {
  if (!holds) throw std::invalid_argument("tiles: " + otherwise);
}

bool walking_distance_fits(int width, int height, int blank_goal);

Heuristic heuristic_named(const std::string& name);

void check_heuristic(const Board& board, int blank_goal, Metric metric, Heuristic heuristic, const PatternTable* table);

// The sizes that are compiled apart: the usual square boards.
template <class Run>
auto with_shape(const Board& board, Run run) {
  if (board.width == 3 && board.height == 3) return run(std::type_identity<FixedShape<3, 3>>{});
  if (board.width == 4 && board.height == 4) return run(std::type_identity<FixedShape<4, 4>>{});
  if (board.width == 5 && board.height == 5) return run(std::type_identity<FixedShape<5, 5>>{});
  return run(std::type_identity<AnyShape>{});
}

// Runs a depth-first search in steps; the reason why not, where its tables cannot be made. The only place where the
// searches of all sizes are compiled.
const char* with_steps(Board& board, Heuristic heuristic, const PatternTable* table, Meter& meter,
                       const std::function<void(Steps&)>& run);

// The bound of a heuristic; the reason why not, where its tables cannot be made.
const char* choose_bound(const Board& board, Metric metric, Heuristic heuristic, const PatternTable* table,
                         Meter& meter, Bound& bound);

}  // namespace unjam::tiles
