// The nodes of a search, numbered as they come and found by their whole keys.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include "chunked_array.hpp"
#include "hash_set.hpp"

namespace unjam {

// Beside the nodes lies an open table of their numbers, each with 32 bits of its key's hash. Those tell nearly all other
// keys apart; of what they do not the key itself decides. So a node costs some 11 bytes more than it holds, and a key is
// kept once.
//
//   hash: | 5 bits: shard | 32 bits: tag; times the capacity, divided by 2^32: home | not used |
//
// Shards grow on their own, in milliseconds, and in the order of their entries. `Node` begins with its `key`.
template <class Node>
class NodeTable {
 public:
  using Key = decltype(Node::key);

  explicit NodeTable(Meter& meter) : meter_(meter), nodes_(meter) {}

  std::uint64_t size() const { return nodes_.size(); }
  Node& operator[](std::uint32_t number) { return nodes_[number]; }

  [[gnu::always_inline]] void prefetch(std::uint64_t hash) const {
    const Shard& shard = shards_[hash >> kShift];
    if (shard.capacity) __builtin_prefetch(shard.entries + shard.home(tag_of(hash)));
  }
  // Some time after the above: the node that is likely to be asked for.
  [[gnu::always_inline]] void prefetch_node(std::uint64_t hash) {
    const Shard& shard = shards_[hash >> kShift];
    if (!shard.capacity) return;
    const Entry& entry = shard.entries[shard.home(tag_of(hash))];
    if (entry.count) __builtin_prefetch(&nodes_[entry.count - 1]);
  }

  // The number of the key's node, which is added if it is not there; Insert::full when there is no memory for it.
  std::pair<std::uint32_t, Insert> insert(const Key& key, std::uint64_t hash) {
    Shard& shard = shards_[hash >> kShift];
    if (shard.used >= shard.grow_at && !grow(shard)) return {0, Insert::full};
    const std::uint32_t tag = tag_of(hash);
    std::uint64_t at = shard.home(tag);
    for (; shard.entries[at].count; at = shard.next(at)) {
      const Entry entry = shard.entries[at];
      if (entry.tag == tag && same_key(nodes_[entry.count - 1].key, key)) return {entry.count - 1, Insert::present};
    }
    if (nodes_.size() == kMost || !nodes_.push_back({.key = key})) return {0, Insert::full};
    shard.entries[at] = {tag, static_cast<std::uint32_t>(nodes_.size())};
    ++shard.used;
    return {static_cast<std::uint32_t>(nodes_.size() - 1), Insert::added};
  }

 private:
  static constexpr int kShift = 59;
  static constexpr std::uint64_t kShards = 32;
  static constexpr std::uint64_t kFirst = 16;  // entries of a new shard
  static constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();

  struct Entry {
    std::uint32_t tag;
    std::uint32_t count;  // the node's number, counted from 1; 0: free
  };
  struct Shard {
    Entry* entries = nullptr;
    std::uint64_t capacity = 0, used = 0;
    std::uint64_t grow_at = 0;  // 0.8 of the capacity, as in hash_set.hpp
    Pages pages;

    std::uint64_t home(std::uint32_t tag) const { return tag * capacity >> 32; }
    std::uint64_t next(std::uint64_t at) const { return at + 1 == capacity ? 0 : at + 1; }
  };

  static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> (kShift - 32)); }

  bool grow(Shard& shard) {
    const std::uint64_t large = Pages::kHuge / sizeof(Entry);
    Shard larger;
    larger.capacity = shard.capacity < large ? std::max(shard.capacity * 2, kFirst) : shard.capacity / 4 * 5;
    larger.grow_at = larger.capacity / 5 * 4;
    larger.used = shard.used;
    larger.pages = Pages::zeroed(larger.capacity * sizeof(Entry), meter_);
    larger.entries = static_cast<Entry*>(larger.pages.data());
    if (!larger.entries) return false;
    for (std::uint64_t from = 0; from < shard.capacity; ++from) {
      const Entry entry = shard.entries[from];
      if (!entry.count) continue;
      std::uint64_t at = larger.home(entry.tag);
      while (larger.entries[at].count) at = larger.next(at);
      larger.entries[at] = entry;
    }
    shard = std::move(larger);
    return true;
  }

  Meter& meter_;
  ChunkedArray<Node> nodes_;
  std::array<Shard, kShards> shards_;
};

}  // namespace unjam
