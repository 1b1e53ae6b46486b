#include "cli/slurm/submit/task_scripts.h"

#include <sys/wait.h>

#include "scheduler/runtime/process.h"

namespace muster::cli::slurm {
namespace {

// Its words: the prolog, the epilog, the command. What the prolog prints is read, never evaluated.
// The task is the shell itself where nothing comes after it; else signals are handed to the task.
constexpr const char* kAroundTask = R"(prolog=$1 epilog=$2
shift 2
if [ -n "$prolog" ]; then
  said=$("$prolog" </dev/null)
  while IFS= read -r line; do
    case $line in
      "print "*) printf '%s\n' "${line#print }" ;;
      "export "*=*)
        line=${line#export }
        case ${line%%=*} in
          '' | [0-9]* | *[!A-Za-z0-9_]*) ;;
          *) export "$line" ;;
        esac ;;
      "unset "*)
        case ${line#unset } in
          '' | [0-9]* | *[!A-Za-z0-9_]*) ;;
          *) unset "${line#unset }" ;;
        esac ;;
    esac
  done <<END
$said
END
fi
if [ -z "$epilog" ]; then
  exec "$@"
fi
exec 3<&0
task=
for signal in HUP INT QUIT USR1 USR2 TERM CONT; do
  trap "kill -$signal \$task" $signal
done
"$@" <&3 3<&- &
task=$!
exec 3<&-
while :; do
  wait $task
  code=$?
  kill -0 $task 2>/dev/null || break
done
"$epilog" </dev/null
exit $code
)";

}  // namespace

std::vector<std::string> AroundTask(const std::string& prolog, const std::string& epilog,
                                    const std::vector<std::string>& command) {
  std::vector<std::string> words = {"/bin/sh", "-c", kAroundTask, "srun", prolog, epilog};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

bool RunHere(const std::string& program, const Environment& environment) {
  SpawnRequest request;
  request.program = "/bin/sh";
  request.arguments = {"sh", "-c", "exec \"$0\"", program};
  request.environment = environment.entries();
  const absl::StatusOr<pid_t> child = Spawn(request);
  return child.ok() && waitpid(*child, nullptr, 0) == *child;
}

}  // namespace muster::cli::slurm
