#include "parkout_search.hpp"

#include <algorithm>
#include <string>

#include "parkout.hpp"

namespace unjam {

namespace {

// What is kept of a budget for finding some solution when the search for the shortest does not end: a share of it.
constexpr int kShare = 8;
constexpr double kMostSeconds = 2;
constexpr int kHaste = 4;

template <int Words, int Weight>
Result search_weighed(const Layout& layout, const Lot& lot, Algorithm algorithm, Meter& meter) {
  Parkout<Words, Weight> space(layout, lot);
  Result result = search(space, algorithm, meter);
  if (result.outcome == "unsolvable") return result;
  result.lower += static_cast<int>(space.opening().size());
  if (result.outcome == "optimal") result.length = result.upper = result.lower;
  return result;
}

template <int Words>
Result search_words(const Layout& layout, Lot lot, Algorithm algorithm, Meter& meter) {
  const std::uint64_t nodes = meter.limit_nodes(0);
  meter.limit_nodes(nodes - nodes / kShare);
  const double seconds = meter.limit_seconds(0);
  meter.limit_seconds(std::max(seconds * (kShare - 1) / kShare, seconds - kMostSeconds));
  Result result = search_weighed<Words, 1>(layout, lot, algorithm, meter);
  meter.limit_nodes(nodes);
  meter.limit_seconds(seconds);
  if (result.outcome != "bounded" || result.reason == "cancelled") return result;

  lot.leaving = Leaving::together;
  const Result some = search_weighed<Words, kHaste>(layout, lot, Algorithm::astar, meter);
  result.expanded = some.expanded;
  result.generated = some.generated;
  result.peak_states = std::max(result.peak_states, some.peak_states);
  result.peak_bytes = some.peak_bytes;
  if (some.outcome == "bounded") return result;
  result.upper = some.upper;
  result.moves = some.moves;
  if (result.upper == result.lower) {
    result.outcome = "optimal";
    result.length = result.upper;
    result.reason.clear();
  }
  return result;
}

}  // namespace

Result search_parkout(const Layout& layout, Lot lot, bool prune, Algorithm algorithm, Meter& meter) {
  if (prune) lot.leaving = algorithm == Algorithm::bfs ? Leaving::first : Leaving::together;
  return with_words(lot.packing().words,
                    [&](auto words) { return search_words<words>(layout, lot, algorithm, meter); });
}

}  // namespace unjam
