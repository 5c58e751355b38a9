// The positions of a level with their distances, exact and compact, in bytes that can be kept in a file.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "hash_set.hpp"

namespace unjam {

// A position's value: 0 where no goal can be reached from it, else the moves to the nearest goal and one.
using Value = std::uint32_t;

// Keys lie bucket by bucket, as the first bits of their hash say, and ascend within a bucket; some six are in one.
// `ends` says where each bucket ends. Values have 1, 2 or 4 bytes, little end first, in the order of the keys.
//
//   | head, 32 bytes | keys | ends, 4 bytes each | values |
template <class Key>
class LevelGraphTable {
 public:
  static constexpr std::uint64_t kMost = 0xFFFFFFFF;  // positions

  struct Head {
    std::uint64_t states, key_bytes, bucket_bits, value_bytes;

    std::uint64_t buckets() const { return std::uint64_t{1} << bucket_bits; }
    std::uint64_t bytes() const { return sizeof(Head) + states * (key_bytes + value_bytes) + buckets() * 4; }
  };

  static Head head_for(std::uint64_t states, Value largest) {
    const std::uint64_t bits = std::bit_width(std::max<std::uint64_t>(states / 6, 1)) - 1;
    return {states, sizeof(Key), bits, largest < 1 << 8 ? 1u : largest < 1 << 16 ? 2u : 4u};
  }

  // Bytes that are of this layout; throws std::invalid_argument where that cannot be.
  LevelGraphTable(const std::uint8_t* bytes, std::uint64_t size) {
    check(size >= sizeof(Head) && reinterpret_cast<std::uintptr_t>(bytes) % alignof(Key) == 0);
    std::memcpy(&head_, bytes, sizeof(Head));
    check(head_.states <= kMost && head_.key_bytes == sizeof(Key) && head_.bucket_bits < 32 &&
          (head_.value_bytes == 1 || head_.value_bytes == 2 || head_.value_bytes == 4) && size == head_.bytes());
    place(const_cast<std::uint8_t*>(bytes));  // only read from then on
  }
  // Zeroed bytes that are filled by the head's owner.
  LevelGraphTable(const Head& head, std::uint8_t* bytes) : head_(head) {
    std::memcpy(bytes, &head, sizeof(Head));
    place(bytes);
  }

  static constexpr std::int64_t kNowhere = -1;

  std::uint64_t size() const { return head_.states; }
  const Key& key(std::uint64_t at) const { return keys_[at]; }
  Value value(std::uint64_t at) const {
    Value value = 0;
    for (std::uint64_t byte = 0; byte < head_.value_bytes; ++byte) {
      value |= Value{values_[at * head_.value_bytes + byte]} << (8 * byte);
    }
    return value;
  }

  // Where the key is, or kNowhere.
  std::int64_t find(const Key& key) const {
    const std::uint64_t bucket = bucket_of(hash_of(key));
    const std::uint64_t end = std::min<std::uint64_t>(ends_[bucket], head_.states);
    for (std::uint64_t at = bucket == 0 ? 0 : ends_[bucket - 1]; at < end; ++at) {
      if (same_key(keys_[at], key)) return static_cast<std::int64_t>(at);
    }
    return kNowhere;
  }

  // Filling: all keys are counted, then laid out, then put in the order of their bucket.
  void count(const Key& key) { ++ends_[bucket_of(hash_of(key))]; }
  void lay_out() {
    std::uint32_t first = 0;
    for (std::uint64_t bucket = 0; bucket < head_.buckets(); ++bucket) first += std::exchange(ends_[bucket], first);
  }
  void put(const Key& key, Value value) {  // `ends` moves from the bucket's first place to its end
    const std::uint64_t at = ends_[bucket_of(hash_of(key))]++;
    keys_[at] = key;
    set_value(at, value);
  }
  void order(std::uint64_t bucket) {
    const std::uint64_t first = bucket == 0 ? 0 : ends_[bucket - 1];
    for (std::uint64_t next = first + 1; next < ends_[bucket]; ++next) {
      const Key key = keys_[next];
      const Value own = value(next);
      std::uint64_t at = next;
      for (; at > first && key < keys_[at - 1]; --at) {
        keys_[at] = keys_[at - 1];
        set_value(at, value(at - 1));
      }
      keys_[at] = key;
      set_value(at, own);
    }
  }

 private:
  static void check(bool holds) {
    if (!holds) throw std::invalid_argument("the bytes are no table of this level's positions");
  }

  void place(std::uint8_t* bytes) {
    keys_ = reinterpret_cast<Key*>(bytes + sizeof(Head));
    ends_ = reinterpret_cast<std::uint32_t*>(keys_ + head_.states);
    values_ = reinterpret_cast<std::uint8_t*>(ends_ + head_.buckets());
  }

  std::uint64_t bucket_of(std::uint64_t hash) const { return head_.bucket_bits ? hash >> (64 - head_.bucket_bits) : 0; }

  void set_value(std::uint64_t at, Value value) {
    for (std::uint64_t byte = 0; byte < head_.value_bytes; ++byte) {
      values_[at * head_.value_bytes + byte] = static_cast<std::uint8_t>(value >> (8 * byte));
    }
  }

  Head head_;
  Key* keys_;
  std::uint32_t* ends_;
  std::uint8_t* values_;
};

}  // namespace unjam
