// Breadth-first search of rush over the arrangements of its lines, compiled apart.
#pragma once

#include <optional>

#include "klotski_pieces.hpp"
#include "rush_lines.hpp"

namespace unjam {

struct RushGoal {
  int primary;
  int cell;  // of the primary's first cell; -1: no goal, explore all
};

// Nothing when the board has a side of more than 8 cells or its lines have 2^32 combinations of arrangements.
std::optional<Result> search_lines(const Layout& layout, RushGoal goal, Metric metric, Meter& meter);

}  // namespace unjam
