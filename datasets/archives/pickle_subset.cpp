// Opcodes: CPython's Lib/pickletools.py. Layout of tensors: torch/_utils.py, torch/serialization.py.
#include "datasets/archives/pickle_subset.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kMaxValues = 1'000'000, kMaxDimensions = 64;
constexpr std::uint32_t kMark = 0xFFFFFFFF;  ///< only on the stack

constexpr std::array<std::string_view, 40> kGlobals{
    "collections.OrderedDict", "torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_parameter", "torch.Size",
    "torch.FloatStorage", "torch.DoubleStorage", "torch.HalfStorage", "torch.BFloat16Storage", "torch.LongStorage",
    "torch.IntStorage", "torch.ShortStorage", "torch.CharStorage", "torch.ByteStorage", "torch.BoolStorage",
    "torch.ComplexFloatStorage", "torch.ComplexDoubleStorage", "torch.storage.UntypedStorage", "torch.float32",
    "torch.float64", "torch.float16", "torch.bfloat16", "torch.int64", "torch.int32", "torch.int16", "torch.int8",
    "torch.uint8", "torch.bool", "torch.complex64", "torch.complex128", "torch.float", "torch.double", "torch.half",
    "torch.long", "torch.int",
    // NumPy arrays, and bytes in protocol 2
    "numpy.core.multiarray._reconstruct", "numpy._core.multiarray._reconstruct", "numpy.ndarray", "numpy.dtype",
    "_codecs.encode", "__builtin__.bytes"};

class Machine {
 public:
  Machine(std::span<const std::byte> bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  PickleValues run() {
    for (bool done = false; !done;) done = step();
    if (stack_.size() != 1 || stack_[0] == kMark) fail("it ends with unused values");
    values_.root = stack_[0];
    return std::move(values_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw FileError(where_ + ": not a pickle of tensors: " + what + " (byte " + std::to_string(at_) + ")");
  }

  // --- input ---
  std::span<const std::byte> take(std::uint64_t count) {
    if (count > bytes_.size() - at_) fail("it ends early");
    at_ += count;
    return bytes_.subspan(at_ - count, count);
  }
  /// Reads a little-endian number of `count` bytes.
  std::uint64_t number(std::size_t count) {
    std::uint64_t value = 0;
    std::size_t shift = 0;
    for (const std::byte b : take(count)) value |= std::to_integer<std::uint64_t>(b) << (8 * shift++);
    return value;
  }
  std::string text(std::uint64_t count) {
    const auto part = take(count);
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }
  std::string line() {
    const auto rest = bytes_.subspan(at_);
    const auto end = std::find(rest.begin(), rest.end(), std::byte{'\n'});
    if (end == rest.end()) fail("it ends early");
    std::string result = text(static_cast<std::uint64_t>(end - rest.begin()));
    ++at_;
    return result;
  }

  // --- stack ---
  void push(PickleValue value) {
    if (values_.all.size() >= kMaxValues) fail("it has more than " + std::to_string(kMaxValues) + " values");
    stack_.push_back(static_cast<std::uint32_t>(values_.all.size()));
    values_.all.push_back(std::move(value));
  }
  void push(PickleKind kind, std::int64_t integer = 0) { push({.kind = kind, .integer = integer}); }
  std::uint32_t pop() {
    if (stack_.empty() || stack_.back() == kMark) fail("no value is left on its stack");
    const std::uint32_t value = stack_.back();
    stack_.pop_back();
    return value;
  }
  std::uint32_t top() const {
    if (stack_.empty() || stack_.back() == kMark) fail("no value is left on its stack");
    return stack_.back();
  }
  /// Removes and returns everything above the last mark, and removes the mark.
  std::vector<std::uint32_t> pop_to_mark() {
    const auto mark = std::find(stack_.rbegin(), stack_.rend(), kMark);
    if (mark == stack_.rend()) fail("a mark is missing");
    std::vector<std::uint32_t> items(mark.base(), stack_.end());
    stack_.erase(mark.base() - 1, stack_.end());
    return items;
  }
  PickleValue& value(std::uint32_t index) { return values_.all[index]; }
  PickleValue& expect(std::uint32_t index, PickleKind kind, const char* what) {
    if (value(index).kind != kind) fail(std::string(what) + " is of the wrong kind");
    return value(index);
  }

  // --- meaning ---
  void remember(std::uint64_t slot) {
    if (slot > kMaxValues) fail("an invalid memo number " + std::to_string(slot));
    memo_[static_cast<std::uint32_t>(slot)] = top();
  }
  void recall(std::uint64_t slot) {
    const auto found = memo_.find(static_cast<std::uint32_t>(slot));
    if (slot > kMaxValues || found == memo_.end()) fail("memo " + std::to_string(slot) + " was never set");
    stack_.push_back(found->second);
  }
  void global(const std::string& module, const std::string& name) {
    const std::string qualified = module + "." + name;
    if (std::find(kGlobals.begin(), kGlobals.end(), qualified) == kGlobals.end()) {
      fail("'" + qualified.substr(0, 200) +
           "' is not allowed in a state dict, and no code in the file is executed; save only the tensors: "
           "torch.save(model.state_dict(), FILE)");
    }
    push({.kind = PickleKind::global, .text = qualified});
  }
  void append(std::uint32_t list, const std::vector<std::uint32_t>& items) {
    auto& target = expect(list, PickleKind::list, "the target of an append").items;
    target.insert(target.end(), items.begin(), items.end());
  }
  void set_items(std::uint32_t dict, const std::vector<std::uint32_t>& items) {
    if (items.size() % 2 != 0) fail("a key without a value");
    auto& target = expect(dict, PickleKind::dict, "the target of keys").items;
    target.insert(target.end(), items.begin(), items.end());
  }
  void storage() {
    const std::vector<std::uint32_t> id = expect(pop(), PickleKind::tuple, "a persistent id").items;
    if (id.size() != 5 || value(id[0]).kind != PickleKind::text || value(id[0]).text != "storage")
      fail("a persistent id that is not a torch storage");
    expect(id[1], PickleKind::global, "a storage's type");
    const std::string key = expect(id[2], PickleKind::text, "a storage's key").text;
    const std::int64_t count = expect(id[4], PickleKind::integer, "a storage's size").integer;
    if (count < 0) fail("a storage of negative size");
    push({.kind = PickleKind::storage, .integer = count, .text = key, .other = id[1]});
  }
  std::vector<std::int64_t> numbers(std::uint32_t index, const char* what) {
    const std::vector<std::uint32_t> items = expect(index, PickleKind::tuple, what).items;
    if (items.size() > kMaxDimensions) fail(std::string(what) + " has more than 64 dimensions");
    std::vector<std::int64_t> result;
    for (const std::uint32_t item : items) {
      result.push_back(expect(item, PickleKind::integer, what).integer);
      if (result.back() < 0) fail(std::string(what) + " is negative");
    }
    return result;
  }
  void tensor(const std::vector<std::uint32_t>& arguments) {
    if (arguments.size() < 4) fail("a tensor without storage, offset, shape and strides");
    PickleValue result{.kind = PickleKind::tensor};
    expect(arguments[0], PickleKind::storage, "a tensor's storage");
    result.other = arguments[0];
    result.integer = expect(arguments[1], PickleKind::integer, "a tensor's offset").integer;
    result.sizes = numbers(arguments[2], "a tensor's shape");
    result.strides = numbers(arguments[3], "a tensor's strides");
    if (result.integer < 0 || result.sizes.size() != result.strides.size()) fail("a tensor with an invalid layout");
    push(std::move(result));
  }
  void reduce() {
    const std::vector<std::uint32_t> arguments = expect(pop(), PickleKind::tuple, "a list of arguments").items;
    const std::string callee = expect(pop(), PickleKind::global, "a called name").text;
    if (callee == "torch._utils._rebuild_tensor_v2") {
      tensor(arguments);
    } else if (callee == "torch._utils._rebuild_parameter") {
      if (arguments.empty()) fail("a parameter without its tensor");
      expect(arguments[0], PickleKind::tensor, "a parameter's tensor");
      stack_.push_back(arguments[0]);
    } else if (callee == "collections.OrderedDict") {
      push(PickleKind::dict);
      if (arguments.empty()) return;
      const std::vector<std::uint32_t> pairs = expect(arguments[0], PickleKind::list, "a dict's list of pairs").items;
      for (const std::uint32_t pair : pairs) {
        const std::vector<std::uint32_t> items = value(pair).items;
        const bool is_pair = value(pair).kind == PickleKind::tuple || value(pair).kind == PickleKind::list;
        if (!is_pair || items.size() != 2) fail("a dict's list contains values other than pairs");
        set_items(top(), items);
      }
    } else if (callee == "torch.Size") {
      if (arguments.size() != 1) fail("a size without numbers");
      expect(arguments[0], PickleKind::tuple, "a size");
      stack_.push_back(arguments[0]);
    } else if (callee.ends_with("multiarray._reconstruct")) {
      push(PickleKind::array);  // the next 'b' provides its content
    } else if (callee == "numpy.dtype") {
      if (arguments.empty()) fail("an element type without a name");
      push({.kind = PickleKind::text, .text = expect(arguments[0], PickleKind::text, "an element type").text});
    } else if (callee == "__builtin__.bytes" && arguments.empty()) {
      push(PickleKind::text);
    } else if (callee == "_codecs.encode") {
      latin1(arguments);
    } else {
      fail("'" + callee + "' is called, which does not create a tensor");
    }
  }
  /// In protocol 2, bytes are text with code points up to 255.
  void latin1(const std::vector<std::uint32_t>& arguments) {
    if (arguments.size() != 2 || value(arguments[1]).text != "latin1") fail("bytes in an encoding other than latin1");
    const std::string utf8 = expect(arguments[0], PickleKind::text, "bytes").text;
    std::string bytes;
    for (std::size_t i = 0; i < utf8.size(); ++i) {
      const auto lead = static_cast<unsigned char>(utf8[i]);
      const bool two = lead == 0xC2 || lead == 0xC3;
      if (lead >= 0x80 && (!two || i + 1 == utf8.size())) fail("bytes that are not latin1");
      bytes += two ? static_cast<char>((lead & 3u) << 6u | (static_cast<unsigned char>(utf8[++i]) & 63u)) : utf8[i];
    }
    push({.kind = PickleKind::text, .text = std::move(bytes)});
  }
  /// Applies the argument of 'b' to the value below it.
  void build(std::uint32_t state) {
    PickleValue& target = value(top());
    if (target.kind == PickleKind::text) {  // an element type: only its byte order is relevant
      const std::vector<std::uint32_t> items = expect(state, PickleKind::tuple, "an element type").items;
      if (items.size() < 2 || value(items[1]).text == ">") fail("elements that are not little-endian");
    } else if (target.kind == PickleKind::array) {  // (version, shape, type, is Fortran order, bytes)
      const std::vector<std::uint32_t> items = expect(state, PickleKind::tuple, "an array's content").items;
      if (items.size() != 5 || expect(items[3], PickleKind::boolean, "an array's order").integer != 0)
        fail("an array in Fortran order, or without content");
      target.sizes = numbers(items[1], "an array's shape");
      expect(items[2], PickleKind::text, "an array's element type");
      target.other = items[2];
      target.text = expect(items[4], PickleKind::text, "an array's bytes").text;
    } else {  // attributes of a dict (a state dict's _metadata) are ignored
      expect(top(), PickleKind::dict, "the target of attributes");
    }
  }
  void integer(std::uint64_t count) {
    if (count > 8) fail("an integer of " + std::to_string(count) + " bytes");
    const std::uint64_t raw = number(count);
    const auto unused = static_cast<int>(64 - 8 * count);
    push(PickleKind::integer, count == 0 ? 0 : static_cast<std::int64_t>(raw << unused) >> unused);
  }
  void real() {
    const auto part = take(8);  // big-endian, the only such field
    std::uint64_t raw = 0;
    for (const std::byte b : part) raw = raw << 8 | std::to_integer<std::uint64_t>(b);
    push({.kind = PickleKind::real, .real = std::bit_cast<double>(raw)});
  }
  void push_text(std::uint64_t count) { push({.kind = PickleKind::text, .text = text(count)}); }
  void push_tuple(std::size_t count) {
    std::vector<std::uint32_t> items(count);
    for (std::size_t k = count; k > 0; --k) items[k - 1] = pop();
    push({.kind = PickleKind::tuple, .items = std::move(items)});
  }

  /// Executes one opcode; returns true at the end.
  bool step() {
    const auto opcode = static_cast<std::uint8_t>(number(1));
    switch (opcode) {
      case 0x80: {
        const std::uint64_t protocol = number(1);
        if (protocol < 2 || protocol > 5) fail("protocol " + std::to_string(protocol));
        break;
      }
      case 0x95: take(8); break;  // FRAME: only lengths
      case '.': return true;
      case '(': stack_.push_back(kMark); break;
      case '0': pop(); break;
      case '1': pop_to_mark(); break;
      case '2': stack_.push_back(top()); break;
      case 'N': push(PickleKind::none); break;
      case 0x88: push(PickleKind::boolean, 1); break;
      case 0x89: push(PickleKind::boolean, 0); break;
      case 'J': integer(4); break;
      case 'K': push(PickleKind::integer, static_cast<std::int64_t>(number(1))); break;
      case 'M': push(PickleKind::integer, static_cast<std::int64_t>(number(2))); break;
      case 0x8a: integer(number(1)); break;
      case 0x8b: integer(number(4)); break;
      case 'G': real(); break;
      case 'X': push_text(number(4)); break;
      case 0x8c: push_text(number(1)); break;
      case 0x8d:
      case 0x8e: push_text(number(8)); break;
      case 'T':
      case 'B': push_text(number(4)); break;
      case 'U':
      case 'C': push_text(number(1)); break;
      case ')': push(PickleKind::tuple); break;
      case 't': push({.kind = PickleKind::tuple, .items = pop_to_mark()}); break;
      case 0x85: push_tuple(1); break;
      case 0x86: push_tuple(2); break;
      case 0x87: push_tuple(3); break;
      case ']': push(PickleKind::list); break;
      case 'l': push({.kind = PickleKind::list, .items = pop_to_mark()}); break;
      case 'a': {
        const std::uint32_t item = pop();
        append(top(), {item});
        break;
      }
      case 'e': {
        const auto items = pop_to_mark();
        append(top(), items);
        break;
      }
      case '}': push(PickleKind::dict); break;
      case 's': {
        const std::uint32_t item = pop(), key = pop();
        set_items(top(), {key, item});
        break;
      }
      case 'u': {
        const auto items = pop_to_mark();
        set_items(top(), items);
        break;
      }
      case 'q': remember(number(1)); break;
      case 'r': remember(number(4)); break;
      case 0x94: remember(memo_.size()); break;
      case 'h': recall(number(1)); break;
      case 'j': recall(number(4)); break;
      case 'c': {
        const std::string module = line(), name = line();
        global(module, name);
        break;
      }
      case 0x93: {
        const std::string name = expect(pop(), PickleKind::text, "a name").text;
        global(expect(pop(), PickleKind::text, "a module").text, name);
        break;
      }
      case 'Q': storage(); break;
      case 'R': reduce(); break;
      case 'b': build(pop()); break;
      default: {
        constexpr std::string_view kHex = "0123456789abcdef";
        fail(std::string("opcode 0x") + kHex[opcode / 16] + kHex[opcode % 16] + " is not allowed in a state dict");
      }
    }
    return false;
  }

  std::span<const std::byte> bytes_;
  const std::string& where_;
  std::size_t at_ = 0;
  PickleValues values_;
  std::vector<std::uint32_t> stack_;
  std::unordered_map<std::uint32_t, std::uint32_t> memo_;
};

}  // namespace

PickleValues read_pickle(std::span<const std::byte> bytes, const std::string& where, std::uint64_t max_bytes) {
  if (bytes.size() > max_bytes)
    throw FileError(where + ": a pickle of " + std::to_string(bytes.size()) + " bytes; the limit for such a file is " +
                    std::to_string(max_bytes));
  return Machine(bytes, where).run();
}

StateDictPickle::StateDictPickle()
    : out_(
          "\x80\x02"
          "ccollections\nOrderedDict\n)R(") {}

void StateDictPickle::text(const std::string& value) {
  out_ += 'X';
  const auto length = static_cast<std::uint32_t>(value.size());
  out_.append(reinterpret_cast<const char*>(&length), 4);
  out_ += value;
}

void StateDictPickle::number(std::int64_t value) {
  out_ += "\x8a\x08";  // LONG1 with eight bytes
  out_.append(reinterpret_cast<const char*>(&value), 8);
}

void StateDictPickle::tuple(const std::vector<std::int64_t>& values) {
  out_ += '(';
  for (const std::int64_t value : values) number(value);
  out_ += 't';
}

void StateDictPickle::add(const std::string& name, const std::string& storage_type, const std::string& key,
                          const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t k = shape.size(); k > 1; --k)
    strides[k - 2] = strides[k - 1] * std::max<std::int64_t>(shape[k - 1], 1);
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  text(name);
  out_ += "ctorch._utils\n_rebuild_tensor_v2\n((";
  text("storage");
  out_ += "ctorch\n" + storage_type + "\n";
  text(key);
  text("cpu");
  number(count);
  out_ += "tQ";
  number(0);
  tuple(shape);
  tuple(strides);
  out_ +=
      "\x89"
      "ccollections\nOrderedDict\n)RtR";
}

std::string StateDictPickle::finish() { return out_ + "u."; }

}  // namespace molgraph
