// Lower bounds on the moves left, kept up to date push by push: Manhattan distance and linear conflict.
//
// A heuristic gives a Value for the root and the Value after a push: of `tile` from cell `from` into the blank's cell
// `to`, the blank going in direction D. `enter` and `leave` follow the search where a heuristic keeps more than that.
// `steps` bounds the steps left. `vertical_slides` and `horizontal_slides` bound the slides left along either axis.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "tiles_board.hpp"

namespace unjam::tiles {

// The sum over all tiles of the rows and columns between a tile and its goal. A vertical slide moves at most height - 1
// tiles by a row each, and none to another column.
template <class Shape>
class Manhattan {
 public:
  struct Value {
    int vertical, horizontal;
  };

  explicit Manhattan(const Board& board) : shape_(board) {}

  Value start(const Board& board) const {
    Value value{0, 0};
    for (int cell = 0; cell < shape_.size(); ++cell) {
      const int tile = board.cells[cell];
      if (tile == board.blank_goal) continue;
      value.vertical += std::abs(shape_.row(tile) - shape_.row(cell));
      value.horizontal += std::abs(shape_.column(tile) - shape_.column(cell));
    }
    return value;
  }

  template <int D, class C>
  [[gnu::always_inline]] Value after(Value value, const C&, int tile, int from, int) const {
    if constexpr (D == kUp) value.vertical += shape_.row(tile) > shape_.row(from) ? -1 : 1;
    if constexpr (D == kDown) value.vertical += shape_.row(tile) < shape_.row(from) ? -1 : 1;
    if constexpr (D == kLeft) value.horizontal += shape_.column(tile) > shape_.column(from) ? -1 : 1;
    if constexpr (D == kRight) value.horizontal += shape_.column(tile) < shape_.column(from) ? -1 : 1;
    return value;
  }
  template <int D> void enter(int, int, int) {}
  template <int D> void leave(int, int, int) {}

  int steps(const Value& value) const { return value.vertical + value.horizontal; }
  int vertical_slides(const Value& value) const { return quotient(value.vertical, shape_.height() - 1); }
  int horizontal_slides(const Value& value) const { return quotient(value.horizontal, shape_.width() - 1); }

 private:
  static int quotient(int steps, int each) { return (steps + each - 1) / each; }

  [[no_unique_address]] Shape shape_;
};

// The steps that the conflicts of a line cost. A line is three bits a cell: 0, or 1 + the goal's place along the line of
// a tile that belongs to it. At most 256 KiB, kept for the process.
using ConflictTable = std::vector<std::uint8_t>;

template <int Length>
const ConflictTable& conflicts_of_length() {
  static const ConflictTable table = [] {
    ConflictTable steps(std::size_t{1} << (3 * Length));
    for (std::uint32_t line = 0; line < steps.size(); ++line) {
      std::array<int, Length> ascending{};  // tiles of the longest ascending run that ends here
      int tiles = 0, longest = 0;
      for (int cell = 0; cell < Length; ++cell) {
        const std::uint32_t tile = line >> (3 * cell) & 7;
        if (tile == 0) continue;
        ++tiles;
        ascending[cell] = 1;
        for (int other = 0; other < cell; ++other) {
          const std::uint32_t before = line >> (3 * other) & 7;
          if (before != 0 && before < tile) ascending[cell] = std::max(ascending[cell], ascending[other] + 1);
        }
        longest = std::max(longest, ascending[cell]);
      }
      steps[line] = static_cast<std::uint8_t>(2 * (tiles - longest));
    }
    return steps;
  }();
  return table;
}

inline const ConflictTable& conflicts(int length) {
  switch (length) {
    case 2: return conflicts_of_length<2>();
    case 3: return conflicts_of_length<3>();
    case 4: return conflicts_of_length<4>();
    case 5: return conflicts_of_length<5>();
    default: return conflicts_of_length<6>();
  }
}

// Manhattan distance, and two steps for each tile of a line that has to leave it and come back, because tiles of one
// goal line lie in that line in the wrong order (Hansson, Mayer and Yung 1992). The fewest that must leave are all but
// a longest ascending run. Rows cost vertical steps, columns horizontal ones, both beyond the Manhattan distance.
// Not a bound on slides: one slide can bring several tiles back.
template <class Shape>
class LinearConflict {
 public:
  struct Value {
    int total;
  };
  struct Picture {  // the tiles of each line that belong to it
    std::array<std::uint32_t, kMaxSide> rows, columns;
  };

  explicit LinearConflict(const Board& board)
      : shape_(board),
        manhattan_(board),
        row_steps_(conflicts(board.width)),
        column_steps_(conflicts(board.height)) {}

  Value start(const Board& board) {
    const auto manhattan = manhattan_.start(board);
    picture_ = {};
    for (int cell = 0; cell < shape_.size(); ++cell) {
      const int tile = board.cells[cell];
      if (tile == board.blank_goal) continue;
      if (shape_.row(tile) == shape_.row(cell)) picture_.rows[shape_.row(cell)] |= in_row(tile, cell);
      if (shape_.column(tile) == shape_.column(cell)) picture_.columns[shape_.column(cell)] |= in_column(tile, cell);
    }
    int total = manhattan.vertical + manhattan.horizontal;
    for (int row = 0; row < shape_.height(); ++row) total += row_steps_[picture_.rows[row]];
    for (int column = 0; column < shape_.width(); ++column) total += column_steps_[picture_.columns[column]];
    return {total};
  }

  template <int D, class C>
  [[gnu::always_inline]] Value after(Value value, const C&, int tile, int from, int to) const {
    if constexpr (is_vertical(D)) {
      const int goal = shape_.row(tile), away = shape_.row(from), there = shape_.row(to);
      value.total += (D == kUp ? goal > away : goal < away) ? -1 : 1;
      if (goal == away) value.total += row_steps_[picture_.rows[goal] ^ in_row(tile, from)] - row_steps_[picture_.rows[goal]];
      if (goal == there) value.total += row_steps_[picture_.rows[goal] ^ in_row(tile, to)] - row_steps_[picture_.rows[goal]];
    } else {
      const int goal = shape_.column(tile), away = shape_.column(from), there = shape_.column(to);
      value.total += (D == kLeft ? goal > away : goal < away) ? -1 : 1;
      const std::uint32_t line = picture_.columns[goal];
      if (goal == away) value.total += column_steps_[line ^ in_column(tile, from)] - column_steps_[line];
      if (goal == there) value.total += column_steps_[line ^ in_column(tile, to)] - column_steps_[line];
    }
    return value;
  }

  // The tile leaves one line of its own or enters one. Along the other axis it moves within a column (or row): its
  // place in the order of that line is kept, but not its cell.
  template <int D>
  void enter(int tile, int from, int to) {
    const int row = shape_.row(tile), column = shape_.column(tile);
    if (row == shape_.row(from)) picture_.rows[row] ^= in_row(tile, from);
    if (row == shape_.row(to)) picture_.rows[row] ^= in_row(tile, to);
    if (column == shape_.column(from)) picture_.columns[column] ^= in_column(tile, from);
    if (column == shape_.column(to)) picture_.columns[column] ^= in_column(tile, to);
  }
  template <int D>
  void leave(int tile, int from, int to) {
    enter<D>(tile, from, to);
  }

  int steps(const Value& value) const { return value.total; }
  Picture& picture() { return picture_; }

 private:
  std::uint32_t in_row(int tile, int cell) const { return (shape_.column(tile) + 1u) << (3 * shape_.column(cell)); }
  std::uint32_t in_column(int tile, int cell) const { return (shape_.row(tile) + 1u) << (3 * shape_.row(cell)); }

  [[no_unique_address]] Shape shape_;
  Manhattan<Shape> manhattan_;
  const ConflictTable &row_steps_, &column_steps_;
  Picture picture_{};
};

}  // namespace unjam::tiles
