#include "path/kept_identity.h"

namespace pctally {

std::string identity_key(const ObjectIdentity& object) {
  std::string key(object.path);
  key.push_back('\0');
  key.append(reinterpret_cast<const char*>(object.build_id), object.build_id_bytes);
  for (uint64_t number :
       {object.device, object.inode, object.time_unix_ns, static_cast<uint64_t>(object.kind)})
    key.append(reinterpret_cast<const char*>(&number), sizeof number);
  return key;
}

KeptIdentity::KeptIdentity(const ObjectIdentity& identity)
    : path_(identity.path),
      build_id_(identity.build_id, identity.build_id + identity.build_id_bytes),
      identity_(identity) {
  identity_.path = path_;
  identity_.build_id = build_id_.data();
}

}  // namespace pctally
