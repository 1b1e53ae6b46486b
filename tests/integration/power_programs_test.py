"""The programs that come with the package for [power]: what they call for which nodes, and what they say of bad input.
The tools that talk to hardware are recorders here: there is no management controller to switch."""

import os
import shutil
import subprocess
import tempfile
import unittest

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "packaging", "power")


class PowerProgramsTest(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="mit-power-", dir="/tmp")
        self.addCleanup(shutil.rmtree, self.root)
        self.tools = os.path.join(self.root, "tools")
        os.mkdir(self.tools)
        for name in ("ipmi-suspend", "ipmi-resume", "wol-suspend", "wol-resume", "wol-sleep"):
            os.symlink(os.path.join(PROGRAMS, name.split("-", maxsplit=1)[0]), os.path.join(self.root, name))
        self.table("n1 10.0.0.1 admin /etc/pass\nn2 10.0.0.2 admin /etc/pass # the slow one\n#n3 10.0.0.3 a b\n")

    def table(self, text):
        with open(os.path.join(self.root, "power.conf"), "w", encoding="utf-8") as file:
            file.write(text)

    def tool(self, name, code=0):
        path = os.path.join(self.tools, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\necho "{name} $*" >>{self.root}/called\nexit {code}\n')
        os.chmod(path, 0o700)

    def run_program(self, name, *arguments, table="power.conf"):
        return subprocess.run([os.path.join(self.root, name), *arguments], capture_output=True, text=True, check=False,
                              env={"PATH": f"{self.tools}:/usr/bin:/bin",
                                   "MUSTER_POWER_CONF": os.path.join(self.root, table)})

    def called(self):
        try:
            with open(os.path.join(self.root, "called"), encoding="utf-8") as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []

    def refuses(self, what, name, *arguments, **keywords):
        done = self.run_program(name, *arguments, **keywords)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\A[^\n]+\n\Z", "one line, and no more")
        self.assertIn(what, done.stderr)

    def test_every_program_is_well_formed_for_the_plainest_shell(self):
        for name in sorted(os.listdir(PROGRAMS)):
            done = subprocess.run(["sh", "-n", os.path.join(PROGRAMS, name)], capture_output=True, text=True,
                                  check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)

    def test_ipmitool_is_called_for_each_node_of_the_list(self):
        self.tool("ipmitool")
        done = self.run_program("ipmi-resume", "n[1-2]")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.called(), ["ipmitool -I lanplus -H 10.0.0.1 -U admin -f /etc/pass chassis power on",
                                         "ipmitool -I lanplus -H 10.0.0.2 -U admin -f /etc/pass chassis power on"])
        self.assertEqual(self.run_program("ipmi-suspend", "n2").returncode, 0)
        self.assertEqual(self.called()[-1], "ipmitool -I lanplus -H 10.0.0.2 -U admin -f /etc/pass chassis power soft")

    def test_the_other_nodes_are_switched_though_one_is_not_in_the_table_or_does_not_answer(self):
        self.tool("ipmitool")
        self.refuses("n3: ", "ipmi-resume", "n[1,3],n2")
        self.assertEqual(len(self.called()), 2)
        self.tool("ipmitool", 1)
        self.refuses("n1: ipmitool could not switch it on by 10.0.0.1", "ipmi-resume", "n1")

    def test_a_magic_packet_wakes_and_ssh_ends(self):
        self.table("w01 00:11:22:33:44:55 eth1\nw02 aa:bb:cc:dd:ee:ff\nbad nonsense\n")
        self.tool("etherwake")
        self.tool("ssh")
        self.assertEqual(self.run_program("wol-resume", "w[01-02]").returncode, 0)
        self.assertEqual(self.called(), ["etherwake -i eth1 00:11:22:33:44:55", "etherwake aa:bb:cc:dd:ee:ff"])
        self.assertEqual(self.run_program("wol-suspend", "w02").returncode, 0)
        self.assertEqual(self.called()[-1], "ssh -o BatchMode=yes -o ConnectTimeout=10 w02 systemctl poweroff")
        self.refuses('"nonsense" is no MAC address', "wol-resume", "bad")
        self.tool("ssh", 255)
        self.refuses("w02: ssh could not switch it off", "wol-suspend", "w02")

    def test_bad_input_is_one_line_and_calls_nothing(self):
        self.tool("ipmitool")
        for text in ("", "n[", "n[1-", "n[3-1]", "a,,b", "a,", "n[1-999999999]", "n1;reboot", "$(reboot)", "n 1",
                     "../n"):
            self.refuses("is no host list", "ipmi-resume", text)
        self.refuses("say which nodes", "ipmi-resume")
        self.refuses("say which nodes", "wol-suspend", "n1", "n2")
        self.refuses("is called by the name", "wol-sleep", "n1")
        self.refuses("nowhere: cannot be read", "ipmi-resume", "n1", table="nowhere")
        self.assertEqual(self.called(), [])
