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
// is counted once: cars in the way for their own moves only, and what one of them may have to pay with, in whichever
// direction it goes, no more for the next. As the moves counted are of different cars, or steps of one that it needs
// anyhow, none is counted that need not be made.
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
    Cells covered[kMaxCars], taken = 0;
    std::uint64_t counted = 0;
    for (int car = 0; car < cars; ++car) {
      taken |= covered[car] = masks_[first_[car] + place[car]];
      counted |= static_cast<std::uint64_t>((covered[car] & way) != 0) << car;
    }
    const auto met_by = [&](Cells cells) {
      std::uint64_t met = 0;
      for (int car = 0; car < cars && (cells & taken); ++car) {
        met |= static_cast<std::uint64_t>((covered[car] & cells) != 0) << car;
      }
      return met & ~counted;
    };
    int sum = moves_[here];
    for (std::uint64_t left = counted; left; left &= left - 1) {
      const int car = std::countr_zero(left);
      const auto& [one, other] = detours_[first_[car] + place[car]];
      const std::uint64_t met = met_by(one.cells);
      int least = one.moves + std::popcount(met);
      if (least > 1) {
        const std::uint64_t other_met = met_by(other.cells);
        least = std::min(least, other.moves + std::popcount(other_met));
        if (one.moves < least) counted |= met;
        if (other.moves < least) counted |= other_met;
      }
      sum += least < kNever ? least : 1;
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
