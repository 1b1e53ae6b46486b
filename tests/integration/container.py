"""A Debian of the test's own, booted with a real systemd as its first process.

Made by mmdebstrap from Debian's packages and booted by systemd-nspawn without a network; it ends with the test. Needs root and a
mirror that apt can reach; where one of those is missing, why_not() says which.
"""

import os
import re
import shutil
import signal
import subprocess
import time

PATIENCE = float(os.environ.get("MUSTER_PATIENCE", "60"))
ENVIRONMENT = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "TERM=dumb", "LC_ALL=C.UTF-8"]


def why_not():
    """Why there can be no container here; None when there can."""
    if os.geteuid() != 0:
        return "only root boots a container"
    for tool in ("systemd-nspawn", "mmdebstrap", "nsenter", "dpkg-shlibdeps"):
        if shutil.which(tool, path="/usr/sbin:/usr/bin:/sbin:/bin") is None:
            return f"{tool} is not installed"
    return None


def codename():
    """The Debian that this machine is, whose libraries the programs were linked with."""
    with open("/etc/os-release", encoding="utf-8") as file:
        found = re.search(r"^VERSION_CODENAME=(\w+)$", file.read(), re.MULTILINE)
    return found.group(1) if found else "bookworm"


def make_tree(path, packages):
    """Installs Debian with `packages` at `path`; the reason, a line, when that failed."""
    made = subprocess.run(
        ["mmdebstrap", "--quiet", "--variant=minbase", "--include=" + ",".join(packages), codename(), path],
        capture_output=True, text=True, timeout=10 * PATIENCE, check=False)
    if made.returncode == 0:
        return None
    errors = [line for line in made.stderr.splitlines() if line.startswith("E:")] or made.stderr.splitlines()[-1:]
    return "mmdebstrap: " + (errors[0] if errors else f"exit code {made.returncode}")


class Container:
    """One boot of a tree. `binds`: directories to show inside, read-only, as {outside: inside}."""

    def __init__(self, tree, name, binds):
        self.log = open(tree + ".console", "wb")  # pylint: disable=consider-using-with
        command = ["systemd-nspawn", "--directory", tree, "--boot", "--machine", name, "--register=no", "--keep-unit",
                   "--private-network", *(f"--bind-ro={outside}:{inside}" for outside, inside in binds.items())]
        self.nspawn = subprocess.Popen(  # pylint: disable=consider-using-with
            command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT, start_new_session=True,
            env={**os.environ, "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"})
        self.init = None
        until = time.monotonic() + PATIENCE
        while self.state() not in ("running", "degraded"):
            if self.nspawn.poll() is not None or time.monotonic() > until:
                state = self.state()
                self.close()
                with open(tree + ".console", encoding="utf-8", errors="replace") as console:
                    raise RuntimeError(f"the container did not boot ({state}): {console.read()[-2000:]}")
            time.sleep(0.2)

    def state(self):
        """What systemd says of itself; "" while it does not answer."""
        if self.init is None:
            path = f"/proc/{self.nspawn.pid}/task/{self.nspawn.pid}/children"
            try:
                with open(path, encoding="utf-8") as file:
                    children = file.read().split()
            except OSError:
                return ""
            if not children:
                return ""
            self.init = children[0]
        return self.run("systemctl", "is-system-running", check=False).stdout.strip()

    def run(self, *command, check=True, patience=PATIENCE):
        """Runs a command inside, as root; its output as text."""
        done = subprocess.run(
            ["nsenter", "--target", self.init, "--all", "--root", "--wd", "env", "-i", *ENVIRONMENT, *command],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=patience, check=False)
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def close(self):
        """Powers off; kills what does not go."""
        if self.init is not None and self.nspawn.poll() is None:
            self.run("systemctl", "poweroff", check=False)
        try:
            self.nspawn.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self.nspawn.pid, signal.SIGKILL)
            self.nspawn.wait()
        self.log.close()
