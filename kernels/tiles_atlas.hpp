// The atlas of a board size: the distance of every solvable board from the goal, two bits each.
//
// An entry is 0 (not reached) or 1 + distance modulo 3, which suffices to walk home: neighbours differ by one at most.
// The entries of four blank cells and one arrangement share a byte, all bytes of the same four cells are a plane:
//
//   plane 0   cells 0 1 2 3   one byte for each rank of an arrangement, see tiles_ranking.hpp
//   plane 1   cells 4 5 6 7
//   plane 2   cells 8 9 10 11
#pragma once

#include <cstdint>
#include <vector>

#include "tiles_ranking.hpp"

namespace unjam::tiles {

class AtlasSpace {
 public:
  AtlasSpace(int width, int height, int blank_goal, bool slides)
      : ranking_(width, height, blank_goal),
        slides_(slides),
        stride_((std::uint64_t{ranking_.arrangements()} + 63) / 64 * 64) {}

  const Ranking& ranking() const { return ranking_; }
  bool slides() const { return slides_; }
  int planes() const { return (ranking_.cells() + 3) / 4; }
  std::uint64_t stride() const { return stride_; }
  std::uint64_t bytes() const { return stride_ * static_cast<std::uint64_t>(planes()); }

  // The first layers are listed while they hold no more than this, and the last ones once no more are left: their boards
  // are too rare to be met by chance.
  std::uint32_t listed() const { return ranking_.boards() / 1024 + 1; }

  int entry(const std::uint8_t* table, Place place) const { return table[at(place)] >> shift(place.cell) & 3; }
  void enter(std::uint8_t* table, Place place, int depth) const {
    table[at(place)] |= static_cast<std::uint8_t>(entry_of(depth) << shift(place.cell));
  }
  static int entry_of(int depth) { return 1 + depth % 3; }
  static int shift(int cell) { return 2 * (cell % 4); }

  // Boards as one number: these are what lists hold.
  std::uint32_t number(Place place) const {
    return static_cast<std::uint32_t>(place.cell) * ranking_.arrangements() + place.rank;
  }
  Place place(std::uint32_t number) const {
    return {static_cast<int>(number / ranking_.arrangements()), number % ranking_.arrangements()};
  }

 private:
  std::uint64_t at(Place place) const { return static_cast<std::uint64_t>(place.cell / 4) * stride_ + place.rank; }

  Ranking ranking_;
  bool slides_;
  std::uint64_t stride_;
};

// What is known besides the table.
struct AtlasLayers {
  std::vector<std::uint64_t> counts;  // boards at each depth
  int early = 0, late = 0;            // the boards of depths below `early` and from `late` on are listed
  std::vector<std::uint32_t> boards;  // depth by depth
};

}  // namespace unjam::tiles
