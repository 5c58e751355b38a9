// Boards of the n-puzzle: their shapes, their cells, and the frame in which the searches see them.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "control.hpp"

namespace unjam::tiles {

inline constexpr int kMaxSide = 6;
inline constexpr int kMaxCells = kMaxSide * kMaxSide;
inline constexpr std::uint32_t kMaxDepth = 1024;  // every 6x6 board is solvable within 405 steps

// The blank's direction. A tile goes the other way.
enum Direction : int { kUp = 0, kLeft = 1, kRight = 2, kDown = 3, kNone = 4 };
constexpr int opposite(int direction) { return 3 - direction; }
constexpr bool is_vertical(int direction) { return direction == kUp || direction == kDown; }

// cells[cell] is the goal cell of what lies there. The goal is the identity.
using Cells = std::array<std::uint8_t, kMaxCells>;

// A board mirrored so that the blank's goal lies in the upper left quarter. That halves the walking distance tables,
// and the searches' order up, left, right, down is then Korf's whether the goal has the blank first or last.
struct Board {
  int width, height;
  int blank_goal;
  Cells cells{};
  bool mirrors_rows = false, mirrors_columns = false;

  Board(int board_width, int board_height, const std::vector<int>& board, int blank)
      : width(board_width), height(board_height), blank_goal(blank) {
    mirrors_rows = 2 * (blank / width) > height - 1;
    mirrors_columns = 2 * (blank % width) > width - 1;
    blank_goal = mirrored(blank);
    for (int cell = 0; cell < size(); ++cell) {
      cells[mirrored(cell)] = static_cast<std::uint8_t>(mirrored(board[cell]));
    }
  }

  int size() const { return width * height; }

  // From the user's cells to ours, and back.
  int mirrored(int cell) const {
    const int row = cell / width, column = cell % width;
    return (mirrors_rows ? height - 1 - row : row) * width + (mirrors_columns ? width - 1 - column : column);
  }

  int blank() const {
    int cell = 0;
    while (cells[cell] != blank_goal) ++cell;
    return cell;
  }

  // Every step is a transposition and moves the blank by one: the permutation is even iff the blank is an even number
  // of steps from its goal. On boards of at least 2x2 that suffices (Wilson 1974; a 2x2 board is a ring of three tiles,
  // of which the blank's parity leaves exactly the three rotations).
  bool solvable() const {
    int transpositions = 0;
    Cells rest = cells;
    for (int cell = 0; cell < size(); ++cell) {
      while (rest[cell] != cell) {
        std::swap(rest[cell], rest[rest[cell]]);
        ++transpositions;
      }
    }
    return (transpositions + blank_distance()) % 2 == 0;
  }

  bool solved() const {
    for (int cell = 0; cell < size(); ++cell) {
      if (cells[cell] != cell) return false;
    }
    return true;
  }

  // In steps. The length of every solution in steps has its parity.
  int blank_distance() const {
    const int from = blank();
    const int rows = from / width - blank_goal / width, columns = from % width - blank_goal % width;
    return (rows < 0 ? -rows : rows) + (columns < 0 ? -columns : columns);
  }

  // The moves of a blank that visits these cells, the first of which is where it starts, in the user's cells.
  Moves moves(const std::vector<int>& visited) const {
    Moves result;
    for (std::size_t i = 1; i < visited.size(); ++i) {
      result.emplace_back(mirrored(visited[i]), mirrored(visited[i - 1]));
    }
    return result;
  }
};

// Throws unless this is a permutation of a board's cells.
inline void check_board(int width, int height, const std::vector<int>& cells, int blank_goal) {
  const auto require = [](bool holds, const char* otherwise) {
    if (!holds) throw std::invalid_argument(std::string("tiles: ") + otherwise);
  };
  require(width >= 2 && width <= kMaxSide && height >= 2 && height <= kMaxSide, "a board has 2 to 6 rows and columns");
  const int size = width * height;
  std::vector<bool> seen(static_cast<std::size_t>(size));
  require(cells.size() == seen.size(), "the board is not a permutation of its cells");
  for (const int cell : cells) {
    require(cell >= 0 && cell < size && !seen[cell], "the board is not a permutation of its cells");
    seen[cell] = true;
  }
  require(blank_goal >= 0 && blank_goal < size, "blank_goal is off the board");
}

// Sizes known at compile time. Up to 16 cells a board is one 64-bit word.
template <int Width, int Height>
struct FixedShape {
  static constexpr bool kPacked = Width * Height <= 16;
  static constexpr bool kWalks = kPacked;  // the walking distance tables of larger squares are never built
  explicit FixedShape(const Board&) {}
  static constexpr int width() { return Width; }
  static constexpr int height() { return Height; }
  static constexpr int size() { return Width * Height; }
  static constexpr int row(int cell) { return cell / Width; }
  static constexpr int column(int cell) { return cell % Width; }
};

class AnyShape {
 public:
  static constexpr bool kPacked = false;
  static constexpr bool kWalks = true;
  explicit AnyShape(const Board& board) : width_(board.width), height_(board.height) {
    for (int cell = 0; cell < kMaxCells; ++cell) {
      row_[cell] = static_cast<std::uint8_t>(cell / width_);
      column_[cell] = static_cast<std::uint8_t>(cell % width_);
    }
  }
  int width() const { return width_; }
  int height() const { return height_; }
  int size() const { return width_ * height_; }
  int row(int cell) const { return row_[cell]; }
  int column(int cell) const { return column_[cell]; }

 private:
  int width_, height_;
  std::array<std::uint8_t, kMaxCells> row_, column_;
};

template <int D, class Shape>
bool can_go(const Shape& shape, int blank) {
  if constexpr (D == kUp) return blank >= shape.width();
  if constexpr (D == kDown) return blank < shape.size() - shape.width();
  if constexpr (D == kLeft) return shape.column(blank) > 0;
  if constexpr (D == kRight) return shape.column(blank) < shape.width() - 1;
}

template <int D, class Shape>
int neighbour(const Shape& shape, int cell) {
  if constexpr (D == kUp) return cell - shape.width();
  if constexpr (D == kDown) return cell + shape.width();
  return D == kLeft ? cell - 1 : cell + 1;
}

// A depth-first search hands its cells down by value and takes a push back by `restore`. Four bits a cell fit one word,
// whose copies make `restore` idle; larger boards are one array that all levels share.
class PackedCells {
 public:
  explicit PackedCells(const Board& board) : blank_(static_cast<std::uint64_t>(board.blank_goal)) {
    for (int cell = 0; cell < board.size(); ++cell) word_ |= std::uint64_t{board.cells[cell]} << (4 * cell);
  }
  int at(int cell) const { return static_cast<int>(word_ >> (4 * cell) & 15); }
  void push(int tile, int from, int to) {
    const std::uint64_t change = static_cast<std::uint64_t>(tile) ^ blank_;
    word_ ^= change << (4 * from) ^ change << (4 * to);
  }
  void restore(int, int, int) {}
  std::uint64_t word() const { return word_; }
  // Cell c holds c, up to the last of `size` cells.
  bool solved(int size) const { return (word_ ^ 0xFEDCBA9876543210) << (64 - 4 * size) == 0; }

 private:
  std::uint64_t word_ = 0, blank_;
};

class SharedCells {
 public:
  explicit SharedCells(Board& board)
      : cells_(board.cells.data()), blank_(static_cast<std::uint8_t>(board.blank_goal)) {}
  int at(int cell) const { return cells_[cell]; }
  void push(int tile, int from, int to) {
    cells_[to] = static_cast<std::uint8_t>(tile);
    cells_[from] = blank_;
  }
  void restore(int tile, int from, int to) { push(tile, to, from); }
  bool solved(int size) const {
    int cell = 0;
    while (cell < size && cells_[cell] == cell) ++cell;
    return cell == size;
  }

 private:
  std::uint8_t* cells_;
  std::uint8_t blank_;
};

template <class Shape>
using CellsOf = std::conditional_t<Shape::kPacked, PackedCells, SharedCells>;

}  // namespace unjam::tiles
