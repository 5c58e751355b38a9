// Lower bounds on the moves left, kept up to date push by push.
//
// A heuristic gives a Value for the root and the Value after a push: of `tile` from cell `from` into the blank's cell
// `to`, the blank going in direction D. `enter` and `leave` follow the search where a heuristic keeps more than that.
// `steps` bounds the steps left. `vertical_slides` and `horizontal_slides` bound the slides left along either axis.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "table_cache.hpp"
#include "tiles_board.hpp"
#include "tiles_order.hpp"
#include "tiles_walking.hpp"

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

// The steps that the conflicts of a line cost. A line is three bits a cell: 0, or 1 + the place along the line of a tile
// that belongs to it. At most 256 KiB, kept for the process.
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

  explicit LinearConflict(const Board& board)
      : shape_(board), manhattan_(board), row_steps_(conflicts(board.width)),
        column_steps_(conflicts(board.height)) {}

  Value start(const Board& board) {
    const auto manhattan = manhattan_.start(board);
    rows_.fill(0);
    columns_.fill(0);
    for (int cell = 0; cell < shape_.size(); ++cell) {
      const int tile = board.cells[cell];
      if (tile == board.blank_goal) continue;
      if (shape_.row(tile) == shape_.row(cell)) rows_[shape_.row(cell)] |= in_row(tile, cell);
      if (shape_.column(tile) == shape_.column(cell)) columns_[shape_.column(cell)] |= in_column(tile, cell);
    }
    int total = manhattan.vertical + manhattan.horizontal;
    for (int row = 0; row < shape_.height(); ++row) total += row_steps_[rows_[row]];
    for (int column = 0; column < shape_.width(); ++column) total += column_steps_[columns_[column]];
    return {total};
  }

  template <int D, class C>
  [[gnu::always_inline]] Value after(Value value, const C&, int tile, int from, int to) const {
    if constexpr (is_vertical(D)) {
      const int goal = shape_.row(tile), away = shape_.row(from), there = shape_.row(to);
      value.total += (D == kUp ? goal > away : goal < away) ? -1 : 1;
      if (goal == away) value.total += row_steps_[rows_[goal] ^ in_row(tile, from)] - row_steps_[rows_[goal]];
      if (goal == there) value.total += row_steps_[rows_[goal] ^ in_row(tile, to)] - row_steps_[rows_[goal]];
    } else {
      const int goal = shape_.column(tile), away = shape_.column(from), there = shape_.column(to);
      value.total += (D == kLeft ? goal > away : goal < away) ? -1 : 1;
      const std::uint32_t line = columns_[goal];
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
    if (row == shape_.row(from)) rows_[row] ^= in_row(tile, from);
    if (row == shape_.row(to)) rows_[row] ^= in_row(tile, to);
    if (column == shape_.column(from)) columns_[column] ^= in_column(tile, from);
    if (column == shape_.column(to)) columns_[column] ^= in_column(tile, to);
  }
  template <int D>
  void leave(int tile, int from, int to) {
    enter<D>(tile, from, to);
  }

  int steps(const Value& value) const { return value.total; }

 private:
  std::uint32_t in_row(int tile, int cell) const { return (shape_.column(tile) + 1u) << (3 * shape_.column(cell)); }
  std::uint32_t in_column(int tile, int cell) const { return (shape_.row(tile) + 1u) << (3 * shape_.row(cell)); }

  [[no_unique_address]] Shape shape_;
  Manhattan<Shape> manhattan_;
  const ConflictTable &row_steps_, &column_steps_;
  std::array<std::uint32_t, kMaxSide> rows_{}, columns_{};
};

inline std::uint64_t walking_key_of_rows(const WalkingSpace& space, const Board& board) {
  std::uint64_t key = static_cast<std::uint64_t>(board.blank() / board.width);
  for (int cell = 0; cell < board.size(); ++cell) {
    const int tile = board.cells[cell];
    if (tile != board.blank_goal) key += space.one(cell / board.width, tile / board.width);
  }
  return key;
}

inline std::uint64_t walking_key_of_columns(const WalkingSpace& space, const Board& board) {
  std::uint64_t key = static_cast<std::uint64_t>(board.blank() % board.width);
  for (int cell = 0; cell < board.size(); ++cell) {
    const int tile = board.cells[cell];
    if (tile != board.blank_goal) key += space.one(cell % board.width, tile % board.width);
  }
  return key;
}

inline WalkingSpace row_space(const Board& board) {
  return {board.height, board.width, board.blank_goal / board.width};
}
inline WalkingSpace column_space(const Board& board) {
  return {board.width, board.height, board.blank_goal % board.width};
}

template <class Table>
struct AxisTables {
  std::shared_ptr<const Table> rows, columns;

  // Counts what is shared with other searches, too. The reason to stop, or nullptr.
  const char* fetch(const Board& board, Meter& meter) {
    const char* reason = nullptr;
    rows = TableCache<Table>::get(row_space(board), meter, reason);
    if (!reason) columns = TableCache<Table>::get(column_space(board), meter, reason);
    if (!reason && !meter.take(rows->bytes() + (rows == columns ? 0 : columns->bytes()))) reason = "bytes";
    return reason;
  }
};

// The walking distance, and the inversion distance (Takahashi) where that is more, for each axis.
//
// Inversions: pairs of tiles that are in the wrong order when the board is read row by row, without the blank. A
// horizontal step changes no order. A vertical one takes a tile past the k = width - 1 tiles between the two cells, so
// it changes the inversions by k, k - 2, ..., or -k. The goal has none, wherever its blank is. So m vertical steps
// can only be enough for i inversions if m * k >= i and m * k and i have the same parity; and m has the parity of the
// rows between the blank and its goal. Likewise horizontal steps, when the board is read column by column.
template <class Shape, class Entry>
class WalkingSteps {
 public:
  struct Columns {  // a packed board once more, column by column
    std::uint64_t word;
  };
  struct Nothing {};
  struct Value {
    [[no_unique_address]] std::conditional_t<Shape::kPacked, Columns, Nothing> columns;
    Entry row_state, column_state;
    std::uint8_t row_walk, column_walk;              // walking distance
    std::uint16_t row_inversions, column_inversions;
    std::uint8_t vertical, horizontal;               // the greater of both bounds
  };

  WalkingSteps(const Board& board, const AxisTables<WalkingTable<Entry>>& tables)
      : shape_(board), rows_(tables.rows), columns_(tables.columns) {
    fill(row_needed_, board.width - 1);
    fill(column_needed_, board.height - 1);
    for (int tile = 0; tile < board.size(); ++tile) {
      transposed_[tile] = static_cast<std::uint8_t>(tile % board.width * board.height + tile / board.width);
    }
    blank_row_ = board.blank_goal / board.width;
    blank_column_ = board.blank_goal % board.width;
  }

  Value start(const Board& board) const {
    Value value{};
    value.row_state = static_cast<Entry>(rows_->find(walking_key_of_rows(rows_->space(), board)));
    value.column_state = static_cast<Entry>(columns_->find(walking_key_of_columns(columns_->space(), board)));
    value.row_walk = rows_->steps(value.row_state);
    value.column_walk = columns_->steps(value.column_state);
    std::uint64_t rows_seen = 0, columns_seen = 0;
    for (int cell = 0; cell < board.size(); ++cell) {
      const int tile = board.cells[cell];
      if constexpr (Shape::kPacked) {
        const int name = tile == board.blank_goal ? 0 : transposed_[tile];
        value.columns.word |= static_cast<std::uint64_t>(name) << (4 * transposed_[cell]);
      }
      if (tile == board.blank_goal) continue;
      value.row_inversions += static_cast<std::uint16_t>(std::popcount(rows_seen >> tile));
      rows_seen |= std::uint64_t{1} << tile;
    }
    for (int column = 0; column < board.width; ++column) {
      for (int cell = column; cell < board.size(); cell += board.width) {
        if (board.cells[cell] == board.blank_goal) continue;
        const int tile = transposed_[board.cells[cell]];
        value.column_inversions += static_cast<std::uint16_t>(std::popcount(columns_seen >> tile));
        columns_seen |= std::uint64_t{1} << tile;
      }
    }
    const int blank = board.blank();
    value.vertical = std::max(value.row_walk, row_needed_[odd_row(blank)][value.row_inversions]);
    value.horizontal = std::max(value.column_walk, column_needed_[odd_column(blank)][value.column_inversions]);
    return value;
  }

  template <int D, class C>
  [[gnu::always_inline]] Value after(Value value, const C& cells, int tile, int from, int to) const {
    constexpr bool forward = D == kDown || D == kRight;
    if constexpr (is_vertical(D)) {
      const Entry next = rows_->next(value.row_state, forward, shape_.row(tile));
      value.row_state = next >> 1;
      value.row_walk = static_cast<std::uint8_t>(value.row_walk + 2 * (next & 1) - 1);
      const int greater = greater_in_rows(cells, tile, forward ? to : from);
      value.row_inversions = static_cast<std::uint16_t>(
          value.row_inversions + (forward ? shape_.width() - 1 - 2 * greater : 2 * greater - (shape_.width() - 1)));
      value.vertical = std::max(value.row_walk, row_needed_[odd_row(from)][value.row_inversions]);
    } else {
      const Entry next = columns_->next(value.column_state, forward, shape_.column(tile));
      value.column_state = next >> 1;
      value.column_walk = static_cast<std::uint8_t>(value.column_walk + 2 * (next & 1) - 1);
      const int greater = greater_in_columns(value, cells, tile, forward ? to : from);
      value.column_inversions = static_cast<std::uint16_t>(
          value.column_inversions +
          (forward ? shape_.height() - 1 - 2 * greater : 2 * greater - (shape_.height() - 1)));
      value.horizontal = std::max(value.column_walk, column_needed_[odd_column(from)][value.column_inversions]);
    }
    if constexpr (Shape::kPacked) {
      const std::uint64_t name = transposed_[tile];
      value.columns.word ^= name << (4 * transposed_[from]) ^ name << (4 * transposed_[to]);
    }
    return value;
  }
  template <int D> void enter(int, int, int) {}
  template <int D> void leave(int, int, int) {}

  int steps(const Value& value) const { return value.vertical + value.horizontal; }

 private:
  static constexpr int kMaxInversions = kMaxCells * kMaxCells / 2;
  using Needed = std::array<std::array<std::uint8_t, kMaxInversions>, 2>;

  static void fill(Needed& needed, int k) {
    for (int odd = 0; odd < 2; ++odd) {
      for (int inversions = 0; inversions < kMaxInversions; ++inversions) {
        int steps = odd;
        while (steps * k < inversions) steps += 2;
        needed[odd][inversions] = static_cast<std::uint8_t>(std::min(steps, 255));
      }
    }
  }

  int odd_row(int blank) const { return (shape_.row(blank) ^ blank_row_) & 1; }
  int odd_column(int blank) const { return (shape_.column(blank) ^ blank_column_) & 1; }

  // How many of the `Count` nibbles from `cell` on are greater than `tile`: each gets a fifth bit that a borrow clears.
  template <int Count>
  static int greater(std::uint64_t word, int tile, int cell) {
    constexpr std::uint64_t kOnes = 0x0101010101010101, kAll = (std::uint64_t{1} << (4 * Count)) - 1;
    constexpr std::uint64_t kEven = kOnes & kAll, kOdd = kOnes & kAll >> 4;
    const std::uint64_t slots = word >> (4 * cell), least = static_cast<std::uint64_t>(tile) + 1;
    const std::uint64_t even = ((slots & kEven * 15) | kEven << 4) - kEven * least;
    const std::uint64_t odd = ((slots >> 4 & kOdd * 15) | kOdd << 4) - kOdd * least;
    return std::popcount((even & kEven << 4) | (odd & kOdd << 4) << 1);
  }

  // Of the cells between `first` and the cell a row (or column) later, in reading order.
  template <class C>
  int greater_in_rows(const C& cells, int tile, int first) const {
    if constexpr (Shape::kPacked) {
      return greater<Shape::width() - 1>(cells.word(), tile, first + 1);
    } else {
      int greater = 0;
      for (int cell = first + 1; cell < first + shape_.width(); ++cell) greater += cells.at(cell) > tile;
      return greater;
    }
  }
  template <class C>
  int greater_in_columns(const Value& value, const C& cells, int tile, int first) const {
    if constexpr (Shape::kPacked) {
      return greater<Shape::height() - 1>(value.columns.word, transposed_[tile], transposed_[first] + 1);
    } else {
      int greater = 0;
      for (int cell = first + shape_.width(); cell < shape_.size(); cell += shape_.width()) {
        greater += transposed_[cells.at(cell)] > transposed_[tile];
      }
      for (int cell = shape_.column(first) + 1; cell < first; cell += shape_.width()) {
        greater += transposed_[cells.at(cell)] > transposed_[tile];
      }
      return greater;
    }
  }

  [[no_unique_address]] Shape shape_;
  std::shared_ptr<const WalkingTable<Entry>> rows_, columns_;
  int blank_row_, blank_column_;
  std::array<std::uint8_t, kMaxCells> transposed_{};  // the number of a cell when cells are counted column by column
  Needed row_needed_, column_needed_;                 // [parity of the steps][inversions]
};

// The walking distance in slides, see tiles_order.hpp. It may be 0 before the goal is reached, where goal lines share a
// label.
template <class Shape>
class WalkingSlides {
 public:
  struct Value {
    std::uint32_t rows, columns;  // sequences of labels
    std::uint8_t vertical, horizontal;
  };

  WalkingSlides(const Board& board, const AxisTables<OrderTable>& tables)
      : shape_(board), rows_(tables.rows), columns_(tables.columns) {}

  Value start(const Board& board) const {
    Value value{};
    int row_tiles = 0, column_tiles = 0;
    for (int cell = 0; cell < board.size(); ++cell) {
      const int tile = board.cells[cell];
      if (tile != board.blank_goal) {
        value.rows |= OrderTable::label(rows_->space(), shape_.row(tile)) << (2 * row_tiles++);
      }
    }
    for (int column = 0; column < board.width; ++column) {
      for (int cell = column; cell < board.size(); cell += board.width) {
        const int tile = board.cells[cell];
        if (tile == board.blank_goal) continue;
        value.columns |= OrderTable::label(columns_->space(), shape_.column(tile)) << (2 * column_tiles++);
      }
    }
    value.vertical = rows_->slides(value.rows, shape_.row(board.blank()));
    value.horizontal = columns_->slides(value.columns, shape_.column(board.blank()));
    return value;
  }

  template <int D, class C>
  [[gnu::always_inline]] Value after(Value value, const C&, int, int from, int to) const {
    constexpr bool forward = D == kDown || D == kRight;
    const int window = forward ? to : from;
    if constexpr (is_vertical(D)) {
      value.rows = rows_->turned(value.rows, forward, window);
      value.vertical = rows_->slides(value.rows, shape_.row(from));
    } else {
      const int cell = shape_.column(window) * shape_.height() + shape_.row(window);
      value.columns = columns_->turned(value.columns, forward, cell);
      value.horizontal = columns_->slides(value.columns, shape_.column(from));
    }
    return value;
  }
  template <int D> void enter(int, int, int) {}
  template <int D> void leave(int, int, int) {}

  int vertical_slides(const Value& value) const { return value.vertical; }
  int horizontal_slides(const Value& value) const { return value.horizontal; }

 private:
  [[no_unique_address]] Shape shape_;
  std::shared_ptr<const OrderTable> rows_, columns_;
};

}  // namespace unjam::tiles
