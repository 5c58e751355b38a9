// Symmetric klotski puzzles: of two positions that are each other's image, klotski_planes.hpp and klotski_skeletons.hpp search one.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "klotski_pieces.hpp"

namespace unjam {

// A symmetry of the whole puzzle, goal included: of two positions that are each other's image, one need be searched.
struct Fold {
  std::vector<int> klass;                         // the class that each class is sent to
  std::vector<std::array<std::uint8_t, 64>> cell;  // by class: where an anchor is sent to
  std::array<std::uint8_t, 64> board{};            // where a cell is sent to
};

// A mirror or half turn that maps places to places and goals to goals.
inline std::optional<Fold> find_fold(const Layout& layout, const Blocks& blocks) {
  const int width = layout.width, height = layout.height;
  for (const auto& [flip_rows, flip_columns] : {std::pair{false, true}, std::pair{true, false}, std::pair{true, true}}) {
    const auto image = [&](int cell) {
      const int row = cell / width, column = cell % width;
      return (flip_rows ? height - 1 - row : row) * width + (flip_columns ? width - 1 - column : column);
    };
    const auto image_of_mask = [&](Cells mask) {
      Cells to = 0;
      for (int cell = 0; cell < layout.cells(); ++cell) {
        if (mask & bit(cell)) to |= bit(image(cell));
      }
      return to;
    };
    // Whether class `to` can be the image of class `from`; fills in where its anchors go.
    const auto maps = [&](int from, int to, std::array<std::uint8_t, 64>& cells) {
      const Track& source = blocks.tracks[from];
      const Track& target = blocks.tracks[to];
      if (source.size() != target.size() || blocks.classes[from].size() != blocks.classes[to].size()) return false;
      for (int place = 0; place < source.size(); ++place) {
        const auto found = std::find(target.mask.begin(), target.mask.end(), image_of_mask(source.mask[place]));
        if (found == target.mask.end()) return false;
        cells[source.cell[place]] = target.cell[found - target.mask.begin()];
      }
      const auto is_goal = [&](int klass, int cell) {
        return std::find(blocks.goal.begin(), blocks.goal.end(), std::pair{klass, cell}) != blocks.goal.end();
      };
      return std::all_of(source.cell.begin(), source.cell.end(),
                         [&](int cell) { return is_goal(from, cell) == is_goal(to, cells[cell]); });
    };
    Fold fold;
    const int count = static_cast<int>(blocks.classes.size());
    fold.klass.assign(count, -1);
    fold.cell.resize(count);
    bool complete = true;
    for (int from = 0; from < count; ++from) {
      if (fold.klass[from] >= 0) continue;
      int to = from;  // itself, or else the first class that is its mirror image
      while (to < count && !(fold.klass[to] < 0 && maps(from, to, fold.cell[from]) && maps(to, from, fold.cell[to]))) ++to;
      if (to == count) {
        complete = false;
        break;
      }
      fold.klass[from] = to;
      fold.klass[to] = from;
    }
    if (!complete) continue;
    for (int cell = 0; cell < layout.cells(); ++cell) fold.board[cell] = static_cast<std::uint8_t>(image(cell));
    return fold;
  }
  return std::nullopt;
}

}  // namespace unjam
