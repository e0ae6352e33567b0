#include "host/builtins/digest_externs.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <memory>
#include <string>

#include "host/builtins/builtins.h"
#include "host/builtins/numbered_objects.h"
#include "host/builtins/system_library.h"
#include "host/values/error.h"

namespace spl {
namespace {

struct CryptoLibrary {
  decltype(&EVP_get_digestbyname) get_digest;
  decltype(&EVP_MD_get_size) digest_size;
  decltype(&EVP_MD_get_block_size) block_size;
  decltype(&EVP_MD_CTX_new) context_new;
  decltype(&EVP_MD_CTX_free) context_free;
  decltype(&EVP_MD_CTX_copy_ex) context_copy;
  decltype(&EVP_DigestInit_ex) init;
  decltype(&EVP_DigestUpdate) update;
  decltype(&EVP_DigestFinal_ex) finish;
  decltype(&HMAC) hmac;
};

CryptoLibrary opened_crypto() {
  const SystemLibrary library("std.hash", "OpenSSL (libcrypto.so.3; Debian package libssl3)",
                              {"libcrypto.so.3"}, "libsimple_torch_crypto.so");
  CryptoLibrary made{};
  library.find(made.get_digest, "EVP_get_digestbyname");
  library.find(made.digest_size, "EVP_MD_get_size");
  library.find(made.block_size, "EVP_MD_get_block_size");
  library.find(made.context_new, "EVP_MD_CTX_new");
  library.find(made.context_free, "EVP_MD_CTX_free");
  library.find(made.context_copy, "EVP_MD_CTX_copy_ex");
  library.find(made.init, "EVP_DigestInit_ex");
  library.find(made.update, "EVP_DigestUpdate");
  library.find(made.finish, "EVP_DigestFinal_ex");
  library.find(made.hmac, "HMAC");
  return made;
}
const CryptoLibrary& crypto() {
  static const CryptoLibrary library = opened_crypto();
  return library;
}

struct ContextFree {
  void operator()(EVP_MD_CTX* context) const { crypto().context_free(context); }
};
using Context = std::unique_ptr<EVP_MD_CTX, ContextFree>;

struct Digest {
  Context context;
  const EVP_MD* kind;
};
using Digests = NumberedObjects<Digest>;

std::shared_ptr<Digest> digest_of(Value number) {
  return Digests::all().get(number, "std.hash: no such digest");
}

const EVP_MD* kind_named(const std::string& name) {
  const EVP_MD* const kind = crypto().get_digest(name.c_str());
  if (kind == nullptr) {
    fail("hash: unsupported hash type " + name);
  }
  return kind;
}

void expect_success(int result) {
  if (result != 1) {
    fail("hash: OpenSSL rejects the operation");
  }
}

Value digest_new(Thread&, Value* args, int) {
  const EVP_MD* const kind = kind_named(expect_text(args[0], "hash: the name"));
  auto digest = std::make_shared<Digest>(Digest{Context(crypto().context_new()), kind});
  expect_success(crypto().init(digest->context.get(), kind, nullptr));
  return Digests::all().insert(std::move(digest));
}

Value digest_update(Thread&, Value* args, int) {
  const auto digest = digest_of(args[0]);
  const std::string& content = expect_text(args[1], "hash: the content");
  expect_success(crypto().update(digest->context.get(), content.data(), content.size()));
  return Value();
}

Context copy_of(const Digest& digest) {
  Context copy(crypto().context_new());
  expect_success(crypto().context_copy(copy.get(), digest.context.get()));
  return copy;
}

// The digest so far, as bytes.
Value digest_value(Thread&, Value* args, int) {
  const auto digest = digest_of(args[0]);
  const Context copy = copy_of(*digest);
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  expect_success(crypto().finish(copy.get(), bytes, &size));
  return make_text(std::string(reinterpret_cast<char*>(bytes), size));
}

Value digest_copy(Thread&, Value* args, int) {
  const auto digest = digest_of(args[0]);
  return Digests::all().insert(std::make_shared<Digest>(Digest{copy_of(*digest), digest->kind}));
}

// [bytes of a digest, bytes of a block]
Value digest_sizes(Thread&, Value* args, int) {
  const auto digest = digest_of(args[0]);
  return make_array({Value::integer(crypto().digest_size(digest->kind)),
                     Value::integer(crypto().block_size(digest->kind))});
}

Value digest_free(Thread&, Value* args, int) {
  Digests::all().remove(args[0]);
  return Value();
}

// (name, key, content)
Value digest_hmac(Thread&, Value* args, int) {
  const EVP_MD* const kind = kind_named(expect_text(args[0], "hash: the name"));
  const std::string& key = expect_text(args[1], "hash: the key");
  const std::string& content = expect_text(args[2], "hash: the content");
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  const auto* const made =
      crypto().hmac(kind, key.data(), static_cast<int>(key.size()),
                    reinterpret_cast<const unsigned char*>(content.data()), content.size(), bytes, &size);
  expect_success(made != nullptr ? 1 : 0);
  return make_text(std::string(reinterpret_cast<char*>(bytes), size));
}

constexpr NativeEntry kDigestExterns[] = {
    {"rt_digest_new", digest_new, 1, 1},     {"rt_digest_update", digest_update, 2, 2},
    {"rt_digest_value", digest_value, 1, 1}, {"rt_digest_copy", digest_copy, 1, 1},
    {"rt_digest_sizes", digest_sizes, 1, 1}, {"rt_digest_free", digest_free, 1, 1},
    {"rt_digest_hmac", digest_hmac, 3, 3},
};

}  // namespace

std::span<const NativeEntry> digest_externs() { return kDigestExterns; }

}  // namespace spl
