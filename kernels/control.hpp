// What every search is given and gives back: limits, a cancel flag with live counters, and the result.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace unjam {

// Shared with another Python thread, which reads the counters and may set `cancelled`.
struct Control {
  std::atomic<bool> cancelled{false};
  std::atomic<std::uint64_t> expanded{0};
  std::atomic<std::uint64_t> generated{0};
  std::atomic<std::uint32_t> depth{0};  // the layer (breadth-first) or bound (IDA*) being searched
};

struct Limits {
  double seconds;        // infinity: no limit
  std::uint64_t nodes;   // generated; the largest value: no limit
  std::uint64_t bytes;   // of search memory; the largest value: no limit
};

// Which piece moved last and how, as each space encodes it.
using Mover = std::uint16_t;
inline constexpr Mover kNobody = 0xFFFF;

// What a heuristic says of a state from which no goal can be reached.
inline constexpr int kNoWay = 1 << 30;

// A move is (cell of the piece, where that cell's content goes); -1 when a car leaves. See unjam/puzzles/grid.py.
using Moves = std::vector<std::pair<int, int>>;

struct Result {
  std::string outcome;  // "optimal", "unsolvable" or "bounded"
  std::string reason;   // bounded: "seconds", "nodes", "bytes" or "cancelled"
  int length = -1;      // optimal only
  int lower = 0;        // proven
  int upper = -1;       // -1: no solution known
  Moves moves;
  std::uint64_t expanded = 0;
  std::uint64_t generated = 0;
  std::uint64_t peak_states = 0;
  std::uint64_t peak_bytes = 0;
  std::vector<std::uint64_t> profile;
};

// Counts nodes and says when to stop. Call `poll` once for every few thousand nodes, say when it is due: it costs a
// clock reading.
class Meter {
 public:
  Meter(const Limits& limits, Control& control)
      : limits_(limits), control_(control), start_(std::chrono::steady_clock::now()) {}

  std::uint64_t expanded = 0;
  std::uint64_t generated = 0;

  bool due() const { return expanded + generated >= due_; }

  // The reason to stop, or nullptr.
  const char* poll(std::uint32_t depth) {
    due_ = expanded + generated + 4096;
    control_.expanded.store(expanded, std::memory_order_relaxed);
    control_.generated.store(generated, std::memory_order_relaxed);
    control_.depth.store(depth, std::memory_order_relaxed);
    if (control_.cancelled.load(std::memory_order_relaxed)) return "cancelled";
    if (generated >= limits_.nodes) return "nodes";
    if (seconds_left() <= 0) return "seconds";
    return nullptr;
  }

  double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  double seconds_left() const { return limits_.seconds - elapsed(); }
  // For one part of a search. They give the limit that they replace.
  std::uint64_t limit_nodes(std::uint64_t nodes) { return std::exchange(limits_.nodes, nodes); }
  double limit_seconds(double seconds) { return std::exchange(limits_.seconds, seconds); }
  std::uint64_t nodes_left() const { return generated < limits_.nodes ? limits_.nodes - generated : 0; }

  bool affords(std::uint64_t bytes) const { return bytes <= limits_.bytes && bytes_ <= limits_.bytes - bytes; }

  // Search memory is asked for before it is allocated; false: the budget does not allow it.
  bool take(std::uint64_t bytes) {
    if (!affords(bytes)) return false;
    bytes_ += bytes;
    peak_bytes_ = std::max(peak_bytes_, bytes_);
    return true;
  }
  void give_back(std::uint64_t bytes) { bytes_ -= bytes; }
  std::uint64_t peak_bytes() const { return peak_bytes_; }

 private:
  Limits limits_;
  std::uint64_t due_ = 0, bytes_ = 0, peak_bytes_ = 0;
  Control& control_;
  std::chrono::steady_clock::time_point start_;
};

// What a search layer by layer gives back: the moves to the goal if it was met, else why it stopped early; with neither,
// all states were searched. No state of fewer than `depth` moves is a goal. `layers` are the states of each.
inline Result layered_result(const Meter& meter, int depth, const char* stop, std::optional<Moves> moves,
                             std::vector<std::uint64_t> layers) {
  Result result;
  if (moves) {
    result.outcome = "optimal";
    result.length = result.lower = result.upper = depth;
    result.moves = *std::move(moves);
  } else if (stop) {
    result.outcome = "bounded";
    result.reason = stop;
    result.lower = depth;
  } else {
    result.outcome = "unsolvable";
  }
  result.expanded = meter.expanded;
  result.generated = meter.generated;
  result.peak_bytes = meter.peak_bytes();
  std::erase(layers, 0);
  for (const std::uint64_t states : layers) result.peak_states += states;
  result.profile = std::move(layers);
  return result;
}

// The tables ask before they grow; should the small change beside them fail, that is a budget too.
template <class Run>
std::optional<Result> within_memory(const Meter& meter, Run&& run) {
  try {
    return run();
  } catch (const std::bad_alloc&) {
    Result result;
    result.outcome = "bounded";
    result.reason = "bytes";
    result.expanded = meter.expanded;
    result.generated = meter.generated;
    result.peak_bytes = meter.peak_bytes();
    return result;
  }
}

// From the number of the first state of each layer and the number of all.
inline std::vector<std::uint64_t> layer_sizes(const std::vector<std::uint64_t>& firsts, std::uint64_t states) {
  std::vector<std::uint64_t> sizes;
  for (std::size_t at = 0; at < firsts.size(); ++at) {
    sizes.push_back((at + 1 < firsts.size() ? firsts[at + 1] : states) - firsts[at]);
  }
  return sizes;
}

}  // namespace unjam
