// A lower bound on the moves that are left in rush: the primary's way, the cars that stand in it, and those that hem these in.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "pieces.hpp"

namespace unjam {

// A car in the primary's way must be clear of it once. It then goes, one way or the other, over all cells up to the
// nearest place that is clear, and every car that stands there now has moved before:
//
//   . . d d     c stands in the way of A. Upwards it meets d, downwards nobody, so it needs one move (three steps, as it
//   A A c .     covers the row until then); were there a car below as well, one of the two would have to move, too.
//   . . c .
//   . . c .
//   . . . .
//   . . . .
//
// So a car in the way costs its own moves and one for each car that it meets, in the direction where that is less. Each car
// is counted once: cars in the way only for their own moves, and what one of them may meet, in either direction, no more
// for the next. As the moves counted are of different cars, or of one car the steps that it needs anyhow, none is counted
// that need not be made.
class RushBound {
 public:
  static constexpr int kMaxCars = kMaxCells / 2;

  // The cars' tracks; the primary's has the goal.
  RushBound(const std::vector<Track>& tracks, int primary, int goal_place, bool steps)
      : primary_(primary), goal_place_(goal_place) {
    const Track& own = tracks[primary];
    Cells line = 0;
    for (const Cells mask : own.mask) line |= mask;
    for (int from = 0; from < own.size(); ++from) {
      Cells way = 0;
      for (int at = std::min(from, goal_place); at <= std::max(from, goal_place); ++at) way |= own.mask[at];
      ways_.push_back(way & ~own.mask[from]);
      moves_.push_back(steps ? std::abs(from - goal_place) : from != goal_place);
    }
    for (const Track& track : tracks) {
      first_.push_back(static_cast<int>(masks_.size()));
      masks_.insert(masks_.end(), track.mask.begin(), track.mask.end());
      for (int from = 0; from < track.size(); ++from) {
        detours_.push_back({detour(track, from, -1, line, steps), detour(track, from, 1, line, steps)});
      }
    }
  }

  // `place` says where each car stands.
  int operator()(const std::array<std::uint8_t, kMaxCars>& place) const {
    const int here = place[primary_];
    if (here == goal_place_) return 0;
    const int cars = static_cast<int>(first_.size());
    const Cells way = ways_[here];
    Cells covered[kMaxCars];
    std::uint64_t counted = 0;
    for (int car = 0; car < cars; ++car) {
      covered[car] = masks_[first_[car] + place[car]];
      counted |= static_cast<std::uint64_t>((covered[car] & way) != 0) << car;
    }
    int sum = moves_[here];
    for (std::uint64_t left = counted; left; left &= left - 1) {
      const int car = std::countr_zero(left);
      int least = kNever;
      std::uint64_t met = 0;
      for (const Detour& detour : detours_[first_[car] + place[car]]) {
        if (detour.moves == kNever) continue;
        std::uint64_t meets = 0;
        for (int other = 0; other < cars; ++other) {
          meets |= static_cast<std::uint64_t>((covered[other] & detour.cells) != 0) << other;
        }
        meets &= ~counted;
        least = std::min(least, detour.moves + std::popcount(meets));
        met |= meets;
      }
      sum += least == kNever ? 1 : least;
      counted |= met;
    }
    return sum;
  }

 private:
  static constexpr int kNever = 1 << 20;

  // How a car gets clear of the primary's line in one direction.
  struct Detour {
    Cells cells;  // that it comes to cover
    int moves;    // kNever: it does not
  };

  static Detour detour(const Track& track, int from, int stride, Cells line, bool steps) {
    Cells cells = 0;
    for (int at = from; at >= 0 && at < track.size(); at += stride) {
      cells |= track.mask[at];
      if (!(track.mask[at] & line)) return {cells & ~track.mask[from], steps ? std::abs(at - from) : at != from};
    }
    return {0, kNever};
  }

  int primary_, goal_place_;
  std::vector<Cells> ways_;  // by the primary's place: the cells between it and its goal
  std::vector<int> moves_;   // by the primary's place
  std::vector<int> first_;   // of each car: where its places are in the following
  std::vector<Cells> masks_;
  std::vector<std::array<Detour, 2>> detours_;
};

}  // namespace unjam
