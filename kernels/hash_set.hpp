// Sets and maps of whole states, never of their hashes: an optimum that rests on 64-bit luck is not proven.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "memory.hpp"

namespace unjam {

// The high bits are the good ones: tables index by them.
inline std::uint64_t hash_of(std::uint64_t key) {
  key *= 0x9E3779B97F4A7C15u;
  key ^= key >> 32;
  return key * 0xD6E8FEB86659FD93u;
}

template <std::size_t N>
std::uint64_t hash_of(const std::array<std::uint64_t, N>& key) {
  std::uint64_t hash = 0;
  for (const std::uint64_t word : key) hash = hash_of((hash ^ (hash >> 32)) + word);
  return hash;
}

inline bool same_key(std::uint64_t one, std::uint64_t other) { return one == other; }

// Not by ==, which calls memcmp for an array.
template <std::size_t N>
bool same_key(const std::array<std::uint64_t, N>& one, const std::array<std::uint64_t, N>& other) {
  std::uint64_t differs = 0;
  for (std::size_t word = 0; word < N; ++word) differs |= one[word] ^ other[word];
  return differs == 0;
}

enum class Insert { present, added, full };

// Open addressing with linear probing. A table starts with a few hundred bytes; a large one is cut by the top bits of
// the hash into shards that grow on their own, so that growth needs little room beside the old table and pauses a
// search by milliseconds. Within a shard, slots lie in the order of the hash, so that growing is one sequential pass.
//
//   hash: | 5 bits: shard | the rest, times the capacity, divided by 2^64: home slot |
//
// A slot of zero bytes is free, so no key's first slot needs to be written; the key of zero bits itself lives beside.
template <class Slot>
class HashTable {
 public:
  using Key = decltype(Slot::key);

  explicit HashTable(Meter& meter) : meter_(&meter) {}

  std::uint64_t size() const { return size_; }

  // Inlined by order: GCC takes a function that only prefetches for one without effect, and leaves out the calls.
  [[gnu::always_inline]] void prefetch(std::uint64_t hash) const {
    if (shards_.empty()) return;
    const Shard& shard = shards_[(hash >> kShift) & mask_];
    __builtin_prefetch(shard.slots + shard.home(hash));
  }

  // How many keys the table can hold before any of it grows; some less, as shards fill unevenly.
  std::uint64_t room() const {
    std::uint64_t room = 0;
    for (const Shard& shard : shards_) room += shard.grow_at;
    return room - room / 16;
  }

  // Keeps the memory.
  void clear() {
    for (Shard& shard : shards_) {
      std::memset(static_cast<void*>(shard.slots), 0, shard.capacity * sizeof(Slot));
      shard.used = 0;
    }
    size_ = 0;
    has_zero_ = false;
  }

  // The slot of the key, added if it is not there; nullptr with Insert::full when there is no memory to grow.
  std::pair<Slot*, Insert> insert(const Key& key, std::uint64_t hash) {
    if (same_key(key, Key{})) [[unlikely]] {
      const Insert result = has_zero_ ? Insert::present : Insert::added;
      size_ += !has_zero_;
      has_zero_ = true;
      return {&zero_, result};
    }
    if (shards_.empty() && !start()) return {nullptr, Insert::full};
    Shard* shard = &shards_[(hash >> kShift) & mask_];
    std::uint64_t at = shard->probe(key, hash);
    if (same_key(shard->slots[at].key, key)) return {&shard->slots[at], Insert::present};
    if (shard->used >= shard->grow_at) [[unlikely]] {
      if (!grow(*shard)) return {nullptr, Insert::full};
      shard = &shards_[(hash >> kShift) & mask_];
      at = shard->probe(key, hash);
    }
    shard->slots[at].key = key;
    ++shard->used;
    ++size_;
    return {&shard->slots[at], Insert::added};
  }

  // Whether `visit` says so of every slot, in no order; ends with the first of which it does not.
  template <class Visit>
  bool all_of(const Visit& visit) const {
    if (has_zero_ && !visit(zero_)) return false;
    for (const Shard& shard : shards_) {
      for (std::uint64_t at = 0; at < shard.capacity; ++at) {
        const Slot& slot = shard.slots[at];
        if (!same_key(slot.key, Key{}) && !visit(slot)) return false;
      }
    }
    return true;
  }

  // nullptr if it is not there.
  Slot* find(const Key& key, std::uint64_t hash) {
    if (same_key(key, Key{})) return has_zero_ ? &zero_ : nullptr;
    if (shards_.empty()) return nullptr;
    Shard& shard = shards_[(hash >> kShift) & mask_];
    Slot& slot = shard.slots[shard.probe(key, hash)];
    return same_key(slot.key, key) ? &slot : nullptr;
  }

 private:
  static constexpr int kShift = 59;
  static constexpr std::uint64_t kShards = 32;
  static constexpr std::uint64_t kFirst = 64;                                    // slots of a new table
  static constexpr std::uint64_t kSplit = kShards * Pages::kHuge / sizeof(Slot);  // a shard is a huge page or more

  struct Shard {
    Slot* slots = nullptr;
    std::uint64_t capacity = 0;
    std::uint64_t used = 0;
    std::uint64_t grow_at = 0;  // 0.8 of the capacity: 3 probes for a key that is there, 13 (two cache lines) for a new one
    bool sharded = false;
    Pages pages;

    std::uint64_t home(std::uint64_t hash) const {
      const std::uint64_t rest = sharded ? hash << (64 - kShift) : hash;
      return static_cast<std::uint64_t>((static_cast<unsigned __int128>(rest) * capacity) >> 64);
    }
    // Where the key is, or else the free slot where it belongs.
    std::uint64_t probe(const Key& key, std::uint64_t hash) const {
      std::uint64_t at = home(hash);
      while (!same_key(slots[at].key, key) && !same_key(slots[at].key, Key{})) {
        if (++at == capacity) at = 0;
      }
      return at;
    }
    bool allocate(std::uint64_t wanted, bool is_sharded, Meter& meter) {
      pages = Pages::zeroed(wanted * sizeof(Slot), meter);
      slots = static_cast<Slot*>(pages.data());
      capacity = wanted;
      grow_at = wanted / 5 * 4;
      sharded = is_sharded;
      return slots != nullptr;
    }
  };

  bool start() {
    std::vector<Shard> first(1);
    if (!first[0].allocate(kFirst, false, *meter_)) return false;
    shards_ = std::move(first);
    return true;
  }

  bool grow(Shard& shard) {
    if (!shard.sharded && shard.capacity * 2 >= kSplit) return split();
    Shard larger;
    const std::uint64_t page = Pages::kHuge / sizeof(Slot);
    const std::uint64_t wanted = shard.sharded ? (shard.capacity / 2 * 3 + page - 1) / page * page : shard.capacity * 2;
    if (!larger.allocate(wanted, shard.sharded, *meter_)) return false;
    for (std::uint64_t at = 0; at < shard.capacity; ++at) put(shard.slots[at], larger);
    shard = std::move(larger);
    return true;
  }

  bool split() {
    std::vector<Shard> shards(kShards);
    for (Shard& shard : shards) {
      if (!shard.allocate(kSplit / kShards, true, *meter_)) return false;
    }
    for (std::uint64_t at = 0; at < shards_[0].capacity; ++at) {
      const Slot& slot = shards_[0].slots[at];
      put(slot, shards[hash_of(slot.key) >> kShift]);
    }
    shards_ = std::move(shards);
    mask_ = kShards - 1;
    return true;
  }

  static void put(const Slot& slot, Shard& to) {
    if (same_key(slot.key, Key{})) return;
    to.slots[to.probe(slot.key, hash_of(slot.key))] = slot;
    ++to.used;
  }

  Meter* meter_;
  std::vector<Shard> shards_;  // none, one or kShards
  std::uint64_t mask_ = 0;
  std::uint64_t size_ = 0;
  bool has_zero_ = false;
  Slot zero_{};
};

template <class Key>
struct SetSlot {
  Key key;
};

template <class Key, class Value>
struct MapSlot {
  Key key;
  Value value;  // zero when the key is new
};

// `Key` is std::uint64_t or std::array<std::uint64_t, N>. Insert many keys at once as bfs.hpp does: hash all, then
// prefetch some kPrefetch keys ahead of the one that is inserted.
template <class Key>
using HashSet = HashTable<SetSlot<Key>>;
template <class Key, class Value>
using HashMap = HashTable<MapSlot<Key, Value>>;

inline constexpr std::size_t kPrefetch = 30;

}  // namespace unjam
