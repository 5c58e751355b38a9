// Levels of klotski, rush and parkout as Python gives them, checked and made what the spaces take.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "klotski_pieces.hpp"
#include "layout.hpp"
#include "parkout_lot.hpp"
#include "rush_search.hpp"

namespace unjam {

using Ints = std::vector<int>;
using Pairs = std::vector<std::pair<int, int>>;

inline const std::vector<Direction> kAll = {kUp, kRight, kDown, kLeft};

inline std::vector<Direction> directions(Axis axis) {
  return axis == Axis::horizontal ? std::vector{kLeft, kRight} : std::vector{kUp, kDown};
}

inline Blocks klotski_blocks(const Layout& layout, const Ints& classes, const Ints& gates, const Ints& gate_classes,
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

inline Metric rush_metric(const std::string& name) {
  const Metric metric = metric_named(name);
  require(metric != Metric::path, "rush has the metrics slide and step");
  return metric;
}

inline RushGoal rush_goal(const Layout& layout, int primary, int cell) {
  require(primary >= 0 && primary < layout.count(), "the primary car is not on the board");
  for (int car = 0; car < layout.count(); ++car) axis_of(layout, car);
  require(cell >= -1 && cell < layout.cells(), "the goal is a cell of the board");
  return {primary, cell};
}

inline Blocks rush_blocks(const Layout& layout, RushGoal goal, Metric metric) {
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

}  // namespace unjam
