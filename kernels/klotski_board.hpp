// Klotski on up to 64 cells as bitboards: for each class of interchangeable pieces, the set of their anchors.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#ifdef __BMI2__
#include <immintrin.h>
#endif

#include "control.hpp"
#include "klotski_fold.hpp"
#include "klotski_pieces.hpp"

namespace unjam {

// The bits of `value` at the places of the mask, packed to the right.
inline std::uint64_t extract_bits(std::uint64_t value, std::uint64_t mask) {
#ifdef __BMI2__
  return _pext_u64(value, mask);
#else
  std::uint64_t packed = 0;
  for (int at = 0; mask; mask &= mask - 1, ++at) {
    packed |= static_cast<std::uint64_t>((value & mask & -mask) != 0) << at;
  }
  return packed;
#endif
}

// The other way round: the lowest bits of `packed`, spread over the places of the mask.
inline std::uint64_t spread_bits(std::uint64_t packed, std::uint64_t mask) {
#ifdef __BMI2__
  return _pdep_u64(packed, mask);
#else
  std::uint64_t value = 0;
  for (; packed; mask &= mask - 1, packed >>= 1) {
    if (packed & 1) value |= mask & -mask;
  }
  return value;
#endif
}

inline std::uint64_t one(int cell) { return std::uint64_t{1} << cell; }

// Everything is relative to the anchor: a piece's other cells have higher numbers. Sets of cells are rotated where a shift
// may go either way: from the places whose next cells are on the board, no bit comes round.
struct KlotskiClass {
  std::uint64_t places = 0;                 // where its anchors may be
  std::uint64_t shape = 0;                  // the piece's cells, for an anchor at cell 0
  std::uint64_t tail = 0;                   // the same but the anchor
  std::uint64_t goals = 0;                  // the cells where the goal wants an anchor
  std::array<std::uint64_t, 4> leads_on{};  // by direction: the places from which a step leads to a place
  std::array<std::vector<int>, 4> front;    // by direction: the cells that a step newly covers
  std::vector<int> cells;
};

class KlotskiBoard {
 public:
  static constexpr int kClasses = 15;
  using Anchors = std::array<std::uint64_t, kClasses>;

  KlotskiBoard(const Layout& layout, const Blocks& blocks)
      : metric(blocks.metric),
        width(layout.width),
        floor(static_cast<std::uint64_t>(layout.all() & ~layout.walls)),
        has_goal(!blocks.goal.empty()),
        step{-layout.width, 1, layout.width, -1},
        count(static_cast<int>(blocks.classes.size())) {
    for (int klass = 0; klass < count; ++klass) {
      for (const int piece : blocks.classes[klass]) start[klass] |= one(layout.pieces[piece][0]);
      add_class(classes[klass], blocks.tracks[klass], layout.pieces[blocks.classes[klass][0]]);
      fanout += blocks.classes[klass].size() * blocks.tracks[klass].size();
    }
    for (const auto& [klass, cell] : blocks.goal) {
      // A goal out of reach is never reached.
      if (classes[klass].places >> cell & 1) {
        classes[klass].goals |= one(cell);
      } else {
        has_goal = false;
      }
    }
  }

  // The pieces of a class that can take a step in the direction, all at once.
  std::uint64_t ready(const KlotskiClass& own, std::uint64_t anchors, std::uint64_t empty, int direction) const {
    anchors &= own.leads_on[direction];
    for (const int cell : own.front[direction]) anchors &= std::rotr(empty, cell);
    return anchors;
  }

  // Where steps in the direction lead from a set of places.
  std::uint64_t stepped(const KlotskiClass& own, std::uint64_t places, int direction) const {
    return std::rotl(places & own.leads_on[direction], step[direction]);
  }

  // All places of one move of the piece at `from`.
  std::uint64_t reach(const KlotskiClass& own, int from, std::uint64_t empty) const {
    const std::uint64_t here = one(from);
    const std::uint64_t fits = places_in(own, empty | own.shape << from);
    std::uint64_t reached = here;
    if (metric == Metric::path) {
      for (std::uint64_t last = 0; last != reached;) {
        last = reached;
        for (int direction = 0; direction < 4; ++direction) reached |= stepped(own, last, direction) & fits;
      }
    } else {
      for (int direction = 0; direction < 4; ++direction) {
        std::uint64_t at = stepped(own, here, direction) & fits;
        reached |= at;
        while (metric == Metric::slide && at) reached |= at = stepped(own, at, direction) & fits;
      }
    }
    return reached & ~here;
  }

  // The places where a piece of the class lies in the room alone.
  static std::uint64_t places_in(const KlotskiClass& own, std::uint64_t room) {
    std::uint64_t fits = own.places;
    for (const int cell : own.cells) fits &= room >> cell;
    return fits;
  }

  Metric metric;
  int width;
  std::uint64_t floor;
  bool has_goal;
  std::array<int, 4> step;  // by direction: from a cell to the next
  int count;                // of classes
  std::array<KlotskiClass, kClasses> classes;
  std::size_t fanout = 0;   // no position has more moves
  Anchors start{};

 private:
  static void add_class(KlotskiClass& own, const Track& track, const std::vector<int>& piece) {
    for (const int cell : piece) own.cells.push_back(cell - piece[0]);
    for (const int cell : own.cells) own.shape |= one(cell);
    own.tail = own.shape & ~std::uint64_t{1};
    for (int place = 0; place < track.size(); ++place) {
      own.places |= one(track.cell[place]);
      for (int direction = 0; direction < 4; ++direction) {
        if (track.next[place][direction] == Track::kNone) continue;
        own.leads_on[direction] |= one(track.cell[place]);
        if (!own.front[direction].empty()) continue;
        const Cells fresh = track.mask[track.next[place][direction]] & ~track.mask[place];
        for (std::uint64_t rest = static_cast<std::uint64_t>(fresh); rest; rest &= rest - 1) {
          own.front[direction].push_back(std::countr_zero(rest) - track.cell[place]);
        }
      }
    }
  }
};

}  // namespace unjam
