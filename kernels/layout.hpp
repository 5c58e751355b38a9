// Boards as Python gives them, checked: lists of integers that hold a piece index, -1 (empty) or -2 (wall) a cell.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace unjam {

using Cells = unsigned __int128;  // a set of cells, bit row * width + column
inline constexpr int kMaxCells = 128;
inline constexpr int kEmpty = -1;
inline constexpr int kWall = -2;

inline Cells bit(int cell) { return Cells{1} << cell; }

inline void require(bool condition, const char* what) {
  if (!condition) throw std::invalid_argument(what);
}

struct Layout {
  int width;
  int height;
  Cells walls = 0;
  std::vector<std::vector<int>> pieces;  // the cells of each piece, ascending; the first is its anchor

  Layout(int width, int height, const std::vector<int>& board) : width(width), height(height) {
    require(width >= 1 && height >= 1 && width <= kMaxCells && height <= kMaxCells && width * height <= kMaxCells,
            "a board has 1 to 128 cells");
    require(static_cast<int>(board.size()) == width * height, "the board must have width * height cells");
    for (int cell = 0; cell < cells(); ++cell) {
      const int piece = board[cell];
      require(piece >= kWall && piece < kMaxCells, "a cell holds a piece from 0, -1 for empty or -2 for a wall");
      if (piece == kWall) walls |= bit(cell);
      if (piece < 0) continue;
      if (piece >= static_cast<int>(pieces.size())) pieces.resize(piece + 1);
      pieces[piece].push_back(cell);
    }
    for (const auto& piece : pieces) require(!piece.empty(), "pieces must be numbered 0, 1, 2, ... without a gap");
  }

  int cells() const { return width * height; }
  int count() const { return static_cast<int>(pieces.size()); }
  Cells all() const { return cells() == kMaxCells ? ~Cells{0} : bit(cells()) - 1; }

  // Equal for two pieces that are translates of each other.
  std::vector<std::pair<int, int>> shape(int piece) const {
    std::vector<std::pair<int, int>> shape;
    const int anchor = pieces[piece][0];
    for (const int cell : pieces[piece]) {
      shape.emplace_back(cell / width - anchor / width, cell % width - anchor % width);
    }
    return shape;
  }
};

// The direction a car's body lies along.
enum class Axis { horizontal, vertical };

// Throws unless the piece is a car: two cells or more in one unbroken line.
inline Axis axis_of(const Layout& layout, int piece) {
  const auto& cells = layout.pieces[piece];
  require(cells.size() >= 2, "a car covers at least two cells");
  const int step = cells[1] - cells[0];
  const bool across = step == 1 && cells.front() / layout.width == cells.back() / layout.width;
  require(across || step == layout.width, "a car lies in one line");
  for (std::size_t at = 1; at < cells.size(); ++at) {
    require(cells[at] - cells[at - 1] == step, "a car's cells are not apart");
  }
  return across ? Axis::horizontal : Axis::vertical;
}

}  // namespace unjam
