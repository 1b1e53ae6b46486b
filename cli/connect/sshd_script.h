#pragma once

// What `muster connect` runs inside the job: a server for one ssh connection on its own streams.
//
// Invariants: it writes nothing but one line, the server's key, before the connection's bytes; no
// port is opened; who connects is known by the key in $1 alone; the job's environment goes to the
// sessions through a pipe and lies in no file.

namespace muster::cli {

// In front of the server's public key, in the line that comes first.
inline constexpr const char* kHostKeyMark = "muster-host-key ";

// For sh; $1: the public key that may connect.
inline constexpr const char* kSshdScript = R"sh(
refuse() { echo "muster: node ${MUSTER_NODE_NAME:-of the job}: $1" >&2; exit 1; }
PATH=$PATH:/usr/sbin:/sbin
sshd=$(command -v sshd) && command -v ssh-keygen >/dev/null ||
  refuse 'has no sshd: install openssh-server there, or use muster exec'
mask=$(umask)
umask 077
variables=$(sed -z -e '/\n/d' -e '/^\(SSH_\|TERM=\|_=\|SHLVL=\|PWD=\|OLDPWD=\|DISPLAY=\)/d' \
  -e 's/[\\"]/\\&/g' -e 's/.*/"&"/' /proc/$$/environ | tr '\0' ' ')
dir=${XDG_STATE_HOME:-${HOME:-/nowhere}/.local/state}/muster/connect
{ mkdir -p "$dir" && [ -O "$dir" ] && [ -w "$dir" ] && chmod 700 "$dir"; } 2>/dev/null ||
  dir=$(mktemp -d) || refuse 'has no directory that the job may write: neither home nor TMPDIR'
work=$(mktemp -d "$dir/run.XXXXXX") && mkfifo "$work/config" || refuse "$dir: cannot be written"
key=$dir/host_key
if ! [ -s "$key" ]; then
  ssh-keygen -q -t ed25519 -N '' -C muster -f "$work/key" </dev/null >/dev/null &&
    ln "$work/key" "$key" 2>/dev/null
  rm -f "$work/key" "$work/key.pub"
fi
public=$(ssh-keygen -y -f "$key" </dev/null) || refuse "$key: is no key; remove it"
allowed=$dir/allowed-$(printf %s "$1" | cksum | tr -c '0-9\n' -)
printf '%s\n' "$1" >"$work/allowed" && mv "$work/allowed" "$allowed" ||
  refuse "$dir: cannot be written"
[ "$(id -u)" != 0 ] || mkdir -p -m 755 /run/sshd
settings() {
  printf 'HostKey "%s"\nAuthorizedKeysFile "%s"\nSetEnv %s\n' "$key" "$allowed" "$variables"
  echo 'AuthenticationMethods publickey
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
UsePAM no
StrictModes no
PidFile none
PrintMotd no
PrintLastLog no
LogLevel ERROR
Subsystem sftp internal-sftp'
}
({ settings >"$work/config"; rm -rf "$work"; } </dev/null >/dev/null 2>&1 &)
umask "$mask"
echo "muster-host-key $public"
exec "$sshd" -i -e -f "$work/config"
)sh";

}  // namespace muster::cli
