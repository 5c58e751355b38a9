// Moves of single-cell pieces of one class among the free cells of a skeleton (klotski_skeletons.hpp).
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "klotski_board.hpp"
#include "klotski_fillings.hpp"

namespace unjam {

class SingleMoves {
 public:
  SingleMoves(const KlotskiBoard& board, int klass) : board_(board), own_(board.classes[klass]) {
    for (int cell = 0; cell < 64; ++cell) {
      for (int direction = 0; direction < 4; ++direction) beside_[cell] |= board.stepped(own_, one(cell), direction);
    }
  }

  // What the next calls of `each` are about.
  void set_free(std::uint64_t free) {
    free_ = free;
    places_ = static_cast<std::uint32_t>(extract_bits(own_.places, free));
    int at = 0;
    for (std::uint64_t rest = free; rest; rest &= rest - 1) {
      near_[at++] = static_cast<std::uint32_t>(extract_bits(beside_[std::countr_zero(rest)], free));
    }
  }

  // Calls visit(mask of a filling) for each move from the filling of this mask.
  template <class Visit>
  void each(std::uint32_t mask, Visit&& visit) const {
    const std::uint32_t empty = mask & places_;
    switch (board_.metric) {
      case Metric::path: return each_path(mask, empty, visit);
      case Metric::slide: return each_slide(mask, empty, visit);
      default: return each_step(mask, empty, visit);
    }
  }

 private:
  template <class Visit>
  void each_step(std::uint32_t mask, std::uint32_t empty, Visit&& visit) const {
    for (std::uint32_t rest = empty; rest; rest &= rest - 1) {
      std::uint32_t singles = near_[std::countr_zero(rest)] & ~empty;
      for (; singles; singles &= singles - 1) visit(mask ^ (singles & -singles) ^ (rest & -rest));
    }
  }

  // A single at the edge of a hole, of connected empty cells, can go to any of them.
  template <class Visit>
  void each_path(std::uint32_t mask, std::uint32_t empty, Visit&& visit) const {
    for (std::uint32_t rest = empty; rest;) {
      std::uint32_t hole = rest & -rest, edge = 0;
      for (std::uint32_t open = hole; open;) {
        const std::uint32_t near = near_[std::countr_zero(open)];
        edge |= near & ~empty;
        open = (open & (open - 1)) | (near & empty & ~hole);
        hole |= near & empty;
      }
      rest &= ~hole;
      for (; edge; edge &= edge - 1) {
        const std::uint32_t lifted = mask ^ (edge & -edge);
        for (std::uint32_t to = hole; to; to &= to - 1) visit(lifted ^ (to & -to));
      }
    }
  }

  template <class Visit>
  void each_slide(std::uint32_t mask, std::uint32_t packed_empty, Visit&& visit) const {
    const std::uint64_t empty = spread_bits(packed_empty, free_);
    for (int direction = 0; direction < 4; ++direction) {
      std::uint64_t ready = board_.ready(own_, free_ & own_.places & ~empty, empty, direction);
      for (; ready; ready &= ready - 1) {
        const std::uint64_t single = ready & -ready;
        for (std::uint64_t at = single; (at = board_.stepped(own_, at, direction) & empty);) {
          visit(mask ^ static_cast<std::uint32_t>(extract_bits(single | at, free_)));
        }
      }
    }
  }

  const KlotskiBoard& board_;
  const KlotskiClass& own_;
  std::array<std::uint64_t, 64> beside_{};                    // by cell: where a single may go from there
  std::uint64_t free_ = 0;
  std::uint32_t places_ = 0;                                  // of singles, among the free cells
  std::array<std::uint32_t, FillingSize::kMostCells> near_{};  // by free cell: the free cells beside it
};

}  // namespace unjam
