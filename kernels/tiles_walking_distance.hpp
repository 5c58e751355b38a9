// The walking distance as a heuristic (tiles_heuristics.hpp says what that is), in steps and in slides.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "table_cache.hpp"
#include "tiles_board.hpp"
#include "tiles_order.hpp"
#include "tiles_walking.hpp"

namespace unjam::tiles {

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
    if (!reason && !meter.take(bytes())) reason = "bytes";
    return reason;
  }

  // Only if both are built already and the budget allows it.
  bool fetch_built(const Board& board, Meter& meter) {
    rows = TableCache<Table>::get_built(row_space(board));
    columns = TableCache<Table>::get_built(column_space(board));
    return rows && columns && meter.take(bytes());
  }

 private:
  std::uint64_t bytes() const { return rows->bytes() + (rows == columns ? 0 : columns->bytes()); }
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
      int steps = odd;
      for (int inversions = 0; inversions < kMaxInversions; ++inversions) {
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
