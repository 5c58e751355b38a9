// IDA* in slides on 4x4 boards, by the exact order tables of both axes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include "tiles_board.hpp"
#include "tiles_idastar.hpp"
#include "tiles_order_exact.hpp"
#include "tiles_walking_distance.hpp"

namespace unjam::tiles {

// Slides turn every time (see SlideSearch), so a solution of n slides has ceil(n / 2) along the axis of the first slide
// and floor(n / 2) along the other. Each axis has its own slack, what it has left beyond its distance: a slide towards
// its goal loses none of it, one at equal distance loses 1, one away 2. Both sequences of labels tell all about the board,
// which is solved when the last slide leaves no slack below 0. So nothing else is kept.
//
// The functions are made for each place of the blank: `Line` is its line along the axis that moves now, `Place` its
// place in that line, which is its line along the other axis. From each line three slides start, to the other lines.
class OrderSearch : public DepthFirst {
 public:
  OrderSearch(const Board& board, const AxisTables<ExactOrderTable>& tables, Meter& meter)
      : DepthFirst(meter, board.blank()), rows_(tables.rows), columns_(tables.columns) {
    int row_tiles = 0, column_tiles = 0;
    for (int at = 0; at < board.size(); ++at) {
      const int transposed = at % kLines * kLines + at / kLines;
      const int by_row = board.cells[at], by_column = board.cells[transposed];
      const std::uint32_t row = static_cast<std::uint32_t>(by_row / kLines);
      const std::uint32_t column = static_cast<std::uint32_t>(by_column % kLines);
      if (by_row != board.blank_goal) vertical_.sequence |= row << (2 * row_tiles++);
      if (by_column != board.blank_goal) horizontal_.sequence |= column << (2 * column_tiles++);
    }
    row_ = board.blank() / kLines;
    column_ = board.blank() % kLines;
    vertical_.code = rows_->code(rows_->rank(vertical_.sequence), row_);
    horizontal_.code = columns_->code(columns_->rank(horizontal_.sequence), column_);
    vertical_slides_ = rows_->slides(vertical_.sequence, row_);
    horizontal_slides_ = columns_->slides(horizontal_.sequence, column_);
  }

  int first_bound() const {
    const int v = vertical_slides_, h = horizontal_slides_;
    return std::min(std::max(2 * v - 1, 2 * h), std::max(2 * h - 1, 2 * v));
  }
  static constexpr int kIncrement = 1;

  // Whether there is a solution of `bound` slides, and there must be none of fewer; also true when stopped.
  bool search(int bound) {
    begin(bound);
    if (stopped() || bound == 0) return true;
    return from_root<true>() || from_root<false>();
  }

 private:
  static constexpr int kLines = ExactOrderTable::kLines;
  static constexpr int kSlides = kLines - 1;

  struct Axis {
    std::uint32_t sequence = 0, code = 0;
    int slack = 0;
  };
  struct Slides {
    std::array<std::uint32_t, kSlides> sequences, ranks;
  };

  // Up (or left) first, the shortest first: the order of SlideSearch.
  static constexpr int target(int line, int slide) { return slide < line ? line - 1 - slide : slide + 1; }

  template <bool Vertical>
  const ExactOrderTable& table() const {
    return Vertical ? *rows_ : *columns_;
  }

  template <bool Vertical, int Line>
  [[gnu::always_inline]] void prepare(std::uint32_t sequence, int place, Slides& slides) const {
    std::uint32_t turning = sequence;
    for (int slide = 0; slide < kSlides; ++slide) {
      if (slide == Line) turning = sequence;
      const int to = target(Line, slide);
      turning = to < Line ? ExactOrderTable::turned<false>(turning, to * kLines + place)
                          : ExactOrderTable::turned<true>(turning, (to - 1) * kLines + place);
      slides.sequences[slide] = turning;
      slides.ranks[slide] = table<Vertical>().rank(turning);
    }
  }

  template <bool Vertical>
  bool from_root() {
    Axis moving = Vertical ? vertical_ : horizontal_, waiting = Vertical ? horizontal_ : vertical_;
    moving.slack = (bound_ + 1) / 2 - (Vertical ? vertical_slides_ : horizontal_slides_);
    waiting.slack = bound_ / 2 - (Vertical ? horizontal_slides_ : vertical_slides_);
    if (moving.slack < 0 || waiting.slack < 0) return false;
    return from_place<Vertical>(moving, waiting, std::make_integer_sequence<int, kLines * kLines>{});
  }

  template <bool Vertical, int... Places>
  bool from_place(const Axis& moving, const Axis& waiting, std::integer_sequence<int, Places...>) {
    const int place = Vertical ? row_ * kLines + column_ : column_ * kLines + row_;
    return ((place == Places && first<Vertical, Places / kLines, Places % kLines>(moving, waiting)) || ...);
  }

  template <bool Vertical, int Line, int Place>
  bool first(const Axis& moving, const Axis& waiting) {
    Slides slides;
    prepare<Vertical, Line>(moving.sequence, Place, slides);
    return expand<Vertical, Line, Place>(slides, moving.code, moving.slack, waiting, 0);
  }

  // `slides` are prepared, and their entries on the way to the cache. So are those of all children before the first
  // child is expanded.
  template <bool Vertical, int Line, int Place>
  bool expand(const Slides& slides, std::uint32_t code, int slack, Axis waiting, int depth) {
    if (stop(depth)) return true;
    ++meter_.expanded;
    meter_.generated += kSlides;
    std::array<std::uint32_t, kSlides> codes;
    std::array<int, kSlides> slacks;
    for (int slide = 0; slide < kSlides; ++slide) {
      codes[slide] = table<Vertical>().code(slides.ranks[slide], target(Line, slide));
      slacks[slide] = slack - ExactOrderTable::lost(code, codes[slide]);
    }
    if ((slacks[0] & slacks[1] & slacks[2]) < 0) return false;
    std::array<Slides, kSlides> next;
    for (int slide = 0; slide < kSlides; ++slide) {
      if (slacks[slide] < 0) continue;
      if (depth + 1 == bound_) {
        note<Vertical, Place>(target(Line, slide), depth + 1);
        return true;
      }
      prepare<!Vertical, Place>(waiting.sequence, target(Line, slide), next[slide]);
      for (const std::uint32_t rank : next[slide].ranks) table<!Vertical>().prefetch(rank);
    }
    return descend<Vertical, Line, Place, 0>(slides, codes, slacks, waiting, next, depth) ||
           descend<Vertical, Line, Place, 1>(slides, codes, slacks, waiting, next, depth) ||
           descend<Vertical, Line, Place, 2>(slides, codes, slacks, waiting, next, depth);
  }

  template <bool Vertical, int Line, int Place, int Slide>
  [[gnu::always_inline]] bool descend(const Slides& slides, const std::array<std::uint32_t, kSlides>& codes,
                                      const std::array<int, kSlides>& slacks, const Axis& waiting,
                                      const std::array<Slides, kSlides>& next, int depth) {
    constexpr int to = target(Line, Slide);
    if (slacks[Slide] < 0) return false;
    const Axis moved{slides.sequences[Slide], codes[Slide], slacks[Slide]};
    if (!expand<!Vertical, Place, to>(next[Slide], waiting.code, waiting.slack, moved, depth + 1)) return false;
    note<Vertical, Place>(to, depth + 1);
    return true;
  }

  template <bool Vertical, int Place>
  void note(int line, int depth) {
    path_[depth] = static_cast<std::uint8_t>(Vertical ? line * kLines + Place : Place * kLines + line);
  }

  std::shared_ptr<const ExactOrderTable> rows_, columns_;
  Axis vertical_, horizontal_;  // of the root
  int row_, column_;            // of its blank
  int vertical_slides_, horizontal_slides_;
};

}  // namespace unjam::tiles
