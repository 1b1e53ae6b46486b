#include "agent/supervisor/launch/criu_rights.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

namespace muster::agent {

bool BeginKeepingRestoreRight() {
  return prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0;
}

bool KeepRestoreRightAlone() {
  __user_cap_header_struct header = {};
  header.version = _LINUX_CAPABILITY_VERSION_3;
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets = {};
  __user_cap_data_struct& set = sets[CAP_TO_INDEX(CAP_CHECKPOINT_RESTORE)];
  set.effective = CAP_TO_MASK(CAP_CHECKPOINT_RESTORE);
  set.permitted = set.effective;
  set.inheritable = set.effective;
  return syscall(SYS_capset, &header, sets.data()) == 0 &&
         prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_CHECKPOINT_RESTORE, 0, 0) == 0;
}

}  // namespace muster::agent
