"""The page in a real browser: what it shows, that it lives, acts, and believes no name."""

import contextlib
import datetime
import http.server
import json
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

import cluster
from cluster import BIN, Cluster, program, wait_until

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's, also for another python3
try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    webdriver = None

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
VIEWS = ("overview", "queue", "history", "plan", "nodes", "gpus", "shares", "alerts", "submit")
HOSTILE = ("<img src=x onerror=hacked=1>", "<script>hacked=1</script>", "\u202eevil\u202d", "🔥" * 20, "a" * 200,
           "\"'><svg onload=hacked=1>")


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Stranger(http.server.BaseHTTPRequestHandler):
    """A page of another origin: another port of this machine."""

    def do_GET(self):
        body = b"<!doctype html><title>stranger</title><body>stranger</body>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Page:
    """A browser of the test's own that shows the page at `port` with a token."""

    def __init__(self, port, token, size=(1360, 900)):
        self.base = f"http://127.0.0.1:{port}/"
        self.directory = tempfile.mkdtemp(prefix="mit-browser-", dir="/tmp")
        options = Options()
        options.binary_location = BROWSER
        for argument in ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
                         "--disable-background-networking", "--disable-component-update", "--disable-sync",
                         f"--user-data-dir={self.directory}", f"--window-size={size[0]},{size[1]}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        self.driver.get(self.base)
        self.js("sessionStorage.setItem('session', arguments[0])", token)
        self.driver.get(self.base + "#overview")
        self.driver.refresh()
        self.drawn("overview")

    def close(self):
        self.driver.quit()
        shutil.rmtree(self.directory, ignore_errors=True)

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def drawn(self, view):
        wait_until(lambda: self.js("return document.getElementById('view').dataset.drawn") == view,
                   lambda: f"{view} is drawn: {self.text()[:500]}")

    def go(self, address):
        self.js("location.hash = arguments[0]", address)
        self.drawn(address.split("/")[0].split("?")[0])

    def text(self):
        return self.js("return document.getElementById('view').innerText")

    def await_text(self, text, there=True):
        wait_until(lambda: (text in self.text()) == there, lambda: f"{text!r} on the page: {self.text()[:1500]}")

    def press(self, label, within="#view"):
        """Clicks the button of that name once it is there."""
        wait_until(lambda: self.js("""
            const found = [...document.querySelectorAll(arguments[0] + ' button')]
                .find((one) => one.textContent === arguments[1] && !one.closest('[hidden]'));
            found?.click();
            return Boolean(found)""", within, label), f"a button {label}")

    def errors(self):
        return [entry["message"] for entry in self.driver.get_log("browser")
                if entry["level"] == "SEVERE" and "Failed to load resource" not in entry["message"]]


@unittest.skipUnless(webdriver and BROWSER and DRIVER, "chromium, chromium-driver or python3-selenium is not installed")
class PageTest(unittest.TestCase):
    """A small cluster whose jobs really run."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(nodes=2, topology=cluster.WIDE)
        cls.addClassCleanup(cls.cluster.close)
        door = f"unix:{cls.cluster.state}/gateway.sock"
        cls.cluster.controller.arguments += ["--gateway-socket", door]
        cls.cluster.configure("[alert.NodeDrained]\nfor = \"0s\"\n[alert.JobNeverStarts]\nfor = \"0s\"\n")
        cls.cluster.start()
        cls.port = free_port()
        gateway = cls.cluster._daemon("muster-gateway", ["--controller", door, "--listen", f"127.0.0.1:{cls.port}"],
                                      "muster-gateway")
        gateway.start()
        cls.addClassCleanup(gateway.stop)
        cls.token = cls.cluster.must("token")
        cls.page = Page(cls.port, cls.token)
        cls.addClassCleanup(cls.page.close)

    def tearDown(self):
        self.assertEqual(self.page.errors(), [])
        self.assertIsNone(self.page.js("return window.hacked ?? null"), "a name ran as a script")

    def assert_names_are_texts(self, view):
        """Nothing of a name is markup there, and what turns the direction stays within an element of its own."""
        self.assertEqual(self.page.js("return document.querySelectorAll('#view img, #view script, #view svg[onload]').length"),
                         0, view)
        loose = self.page.js("""
            const walk = document.createTreeWalker(document.getElementById('view'), NodeFilter.SHOW_TEXT);
            const loose = [];
            while (walk.nextNode()) {
              const held = walk.currentNode.parentElement.closest('bdi, pre, option, textarea');
              if (/[\u202a-\u202e\u2066-\u2069]/.test(walk.currentNode.data) && !held) {
                loose.push(walk.currentNode.parentElement.outerHTML.slice(0, 200));
              }
            }
            return loose""")
        self.assertEqual(loose, [], view)
        self.assertIsNone(self.page.js("return window.hacked ?? null"), view)

    def test_a_name_is_a_text_wherever_it_is_shown(self):
        def submit(name, *more):
            return self.cluster.submit("--job-name", name, "--comment", name, *more)

        waiting = [submit(name, "--hold", "--wrap", "true") for name in HOSTILE]
        never = [submit(name, "-n", "100000", "--wrap", "true") for name in HOSTILE[:3]]
        running = [submit(name, "--wrap", "sleep 600") for name in HOSTILE[:3]]
        ended = [submit(name, "--wrap", "exit 3") for name in HOSTILE[:3]]
        jobs = [*waiting, *never, *running]
        self.addCleanup(self.cluster.must, "cancel", *jobs)
        self.cluster.must("drain", "node2", "--reason", HOSTILE[0] + HOSTILE[2])
        self.addCleanup(self.cluster.must, "resume", "node2")
        for job in ended:
            self.cluster.wait_ended(job)
        for job in running:
            self.cluster.wait_state(job, "RUNNING")
        shows = {"queue": HOSTILE, "history": HOSTILE[:3], "overview": HOSTILE[:3], "alerts": HOSTILE[:3],
                 "node/node2": [HOSTILE[0] + HOSTILE[2]]}
        for job, name in (*zip(waiting, HOSTILE), *((jobs[2], HOSTILE[2]) for jobs in (never, running, ended))):
            shows[f"job/{job}"] = [name]
        for view in dict.fromkeys((*VIEWS, *shows)):
            self.page.go(view)
            for name in shows.get(view, ()):  # each letter of it, whatever it does to the order in which they are shown
                wait_until(lambda: name in self.page.js("return document.getElementById('view').textContent"),
                           lambda: f"{name!r} in {view}: {self.page.text()[:1500]}")
            self.assert_names_are_texts(view)

    def test_another_origin_can_do_nothing(self):
        before = len(self.cluster.queue())
        stranger = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stranger)
        self.addCleanup(stranger.server_close)
        self.addCleanup(stranger.shutdown)
        threading.Thread(target=stranger.serve_forever, daemon=True).start()
        gateway = self.page.base.rstrip("/")
        # In a tab beside the page's, whose session lasts.
        own = self.page.driver.current_window_handle
        self.page.driver.switch_to.new_window("tab")
        self.addCleanup(self.page.driver.switch_to.window, own)
        self.page.driver.get(f"http://127.0.0.1:{stranger.server_port}/")
        self.assertIsNone(self.page.js("return sessionStorage.getItem('session')"))
        said = self.page.driver.execute_async_script("""
            const [gateway, done] = arguments;
            const job = JSON.stringify({ spec: { name: 'forged' }, program: { script: '#!/bin/sh\\n', workDir: '/tmp' } });
            const tries = {
              read: fetch(gateway + '/v1/jobs', { credentials: 'include' }),
              write: fetch(gateway + '/v1/jobs', { method: 'POST', credentials: 'include', body: job,
                headers: { 'Content-Type': 'application/json' } }),
              plain: fetch(gateway + '/v1/jobs', { method: 'POST', body: job }),
              bearer: fetch(gateway + '/v1/jobs', { headers: { Authorization: 'Bearer x' } }),
              session: fetch(gateway + '/session', { method: 'POST', body: '{"code":"x"}' }),
              events: fetch(gateway + '/v1/events'),
            };
            Promise.allSettled(Object.values(tries)).then((ends) => done(Object.fromEntries(
              Object.keys(tries).map((name, i) => [name, ends[i].status]))))""", gateway)
        self.assertEqual(set(said.values()), {"rejected"}, said)
        # A form and a frame need no leave of ours to ask.
        self.page.js("""
            const frame = document.createElement('iframe');
            frame.name = 'inner';
            frame.src = arguments[0] + '/';
            const form = document.createElement('form');
            form.method = 'post'; form.enctype = 'text/plain'; form.action = arguments[0] + '/v1/jobs'; form.target = 'answer';
            const answer = document.createElement('iframe');
            answer.name = 'answer';
            document.body.append(frame, answer, form);
            form.submit();""", gateway)
        time.sleep(2)
        for name in ("inner", "answer"):
            self.page.driver.switch_to.frame(name)
            self.assertEqual(self.page.js("return document.getElementById('view') === null"), True, name)
            self.page.driver.switch_to.default_content()
        self.page.driver.close()
        self.page.driver.switch_to.window(own)
        self.assertEqual(len(self.cluster.queue()), before, "a job came from another origin")
        self.page.go("queue")
        self.page.driver.get_log("browser")  # what the stranger was refused

    def test_no_script_or_style_but_our_files_counts(self):
        self.page.go("queue")
        self.page.js("""const script = document.createElement('script');
            script.textContent = 'window.inserted = 1';
            document.head.append(script);
            document.getElementById('view').insertAdjacentHTML('beforeend', '<b style="color:red" onclick="1" id="styled">x</b>')""")
        self.assertIsNone(self.page.js("return window.inserted ?? null"))
        self.assertNotEqual(self.page.js("return getComputedStyle(document.getElementById('styled')).color"), "rgb(255, 0, 0)")
        self.assertEqual(self.page.js("return document.cookie"), "")
        self.assertTrue([message for message in self.page.errors() if "Content Security Policy" in message])

    def test_it_lives_without_being_asked(self):
        self.page.go("queue")
        self.page.js("window.same = 1")
        job = self.cluster.submit("--job-name", "comes-live", "--hold", "--wrap", "true")
        self.page.await_text("comes-live")
        self.cluster.must("cancel", job)
        self.page.await_text("comes-live", there=False)
        self.assertEqual(self.page.js("return document.getElementById('live').dataset.state"), "live")
        self.assertEqual(self.page.js("return window.same"), 1, "without a reload")

    def test_jobs_are_held_released_and_cancelled_from_it(self):
        job = self.cluster.submit("--job-name", "acted-on", "-n", "100000", "--wrap", "true")
        self.page.go(f"job/{job}")
        self.page.press("Hold")
        self.page.await_text("held")
        self.page.press("Release")
        wait_until(lambda: "held" not in self.cluster.must("explain", job), "it is released")
        self.page.press("Cancel")
        self.page.press("Back", "dialog[open]")
        self.page.press("Cancel")
        self.page.press("Cancel", "dialog[open]")
        self.page.await_text("cancelled")
        self.assertEqual(self.cluster.history()[job]["state"], "CANCELLED")

    def test_several_are_cancelled_at_once(self):
        jobs = [self.cluster.submit("--job-name", "heap", "--hold", "--wrap", "true") for _ in range(3)]
        self.page.go("queue?q=heap")
        wait_until(lambda: self.page.js("return document.querySelectorAll('.grid-inner .grid-row').length") == 3, "three rows")
        self.page.js("document.querySelector('.grid-head input').click()")
        self.page.press("Cancel", "#view .actions")
        self.page.press("Cancel", "dialog[open]")
        wait_until(lambda: all(self.cluster.history().get(job, {}).get("state") == "CANCELLED" for job in jobs), "all are")

    def test_a_node_is_drained_and_resumed(self):
        self.page.go("node/node2")
        self.page.press("Drain")
        wait_until(lambda: self.page.js("return Boolean(document.querySelector('dialog[open] input'))"), "a reason is asked for")
        self.page.driver.find_element(By.CSS_SELECTOR, "dialog input").send_keys("fan <b>")
        self.page.press("Drain", "dialog[open]")
        self.page.await_text("fan <b>")
        self.page.go("alerts")
        self.page.await_text("node2")
        self.page.go("node/node2")
        self.page.press("Resume")
        self.page.await_text("fan <b>", there=False)

    def test_a_job_is_submitted_from_it_and_runs(self):
        self.page.go("submit")
        self.page.js("""const form = document.querySelector('form.submit');
            form.script.value = '#!/bin/sh\\necho from-the-page\\n';
            form.elements.name.value = 'from-page';
            form.directory.value = arguments[0];""", self.cluster.work)
        self.page.press("When would it start?")
        self.page.await_text("It would start now.")
        self.page.press("Submit")
        self.page.drawn("job")
        self.page.await_text("completed")
        job = int(self.page.js("return location.hash").split("/")[1])
        self.assertIn(b"from-the-page", cluster.read_file(os.path.join(self.cluster.work, f"muster-{job}.out")))

    def test_a_running_job_shows_its_ranks_curves_and_time(self):
        job = self.cluster.submit("--job-name", "busy", "-n", "2", "--time", "10", "--wrap", f"{program('muster')} run --state "
                                  f"{self.cluster.state} -n 2 sh -c 'while :; do :; done'")
        self.page.go(f"job/{job}")
        wait_until(lambda: self.page.js("return document.querySelectorAll('.chart svg').length") >= 2,
                   lambda: "curves: " + self.page.text()[:1500])
        for text in ("Attempt 1", "CPUs busy", "Memory", "Read from storage", "limit "):
            self.page.await_text(text)
        self.page.go("plan")
        self.assertIn("1 running job", self.page.js("return document.querySelector('canvas').getAttribute('aria-label')"))
        self.cluster.must("cancel", job)

    def pointed_at(self, canvas, across, down):
        """What is said of the place in a chart, given as parts of its width and height."""
        return self.page.js("""
            const [canvas, across, down] = [document.querySelector(arguments[0]), arguments[1], arguments[2]];
            const box = canvas.getBoundingClientRect();
            canvas.dispatchEvent(new PointerEvent('pointermove', { clientX: box.left + box.width * across,
              clientY: box.top + box.height * down, bubbles: true }));
            const tip = document.querySelector('.tip, #tip');
            return tip.hidden || tip.style.display === 'none' ? '' : tip.textContent""", canvas, across, down)

    def test_one_piece_of_code_draws_the_plan_and_a_simulated_schedule(self):
        job = self.cluster.submit("--job-name", HOSTILE[0], "--time", "600", "-w", "node1", "--wrap", "sleep 600")
        self.addCleanup(self.cluster.must, "cancel", job)
        self.cluster.wait_state(job, "RUNNING")
        self.page.go("plan")
        self.page.press("1 h")
        wait_until(lambda: HOSTILE[0] + " of " in self.pointed_at("canvas.gantt", 0.5, 0.45), "the plan's chart shows the job")
        self.assertEqual(self.pointed_at("canvas.gantt", 0.02, 0.45), "")
        trace, drawn = os.path.join(self.cluster.work, "trace.csv"), os.path.join(self.cluster.work, "schedule.html")
        with open(trace, "w", encoding="utf-8") as file:
            file.write(f"job_id,submit,run_time,requested,user\n1,0,600,2,{HOSTILE[0]}\n2,0,600,2,bob\n3,1,600,4,bob\n")
        subprocess.run([program("muster"), "simulate", "--trace", trace, "--flat", "4", "--html", drawn], check=True,
                       capture_output=True)
        with urllib.request.urlopen(self.page.base + "js/gantt.js", timeout=cluster.PATIENCE) as served:
            self.assertIn(served.read(), cluster.read_file(drawn))
        own = self.page.driver.current_window_handle
        self.page.driver.switch_to.new_window("tab")
        self.addCleanup(self.page.driver.switch_to.window, own)
        self.page.driver.get("file://" + drawn)
        shown = [self.pointed_at("#gantt", *place).split("\n")[0] for place in ((0.2, 0.2), (0.2, 0.7), (0.7, 0.2), (0.01, 0.2))]
        self.assertEqual(shown, [f"job 1 of {HOSTILE[0]}", "job 2 of bob", "job 3 of bob", ""])
        inks = self.page.js("""const canvas = document.getElementById('gantt');
            return [[0.2, 0.3], [0.2, 0.7], [0.99, 0.5]].map(([x, y]) =>
              [...canvas.getContext('2d').getImageData(canvas.width * x, canvas.height * y, 1, 1).data])""")
        self.assertEqual([ink[3] for ink in inks], [255, 255, 0], inks)
        self.assertNotEqual(inks[0], inks[1])
        self.assertEqual(self.page.js("return document.querySelectorAll('img').length"), 0)
        self.assertEqual(self.page.errors(), [])
        self.page.driver.close()
        self.page.driver.switch_to.window(own)

    def test_the_end_of_a_jobs_output_is_shown_live_and_as_text(self):
        said = os.path.join(self.cluster.work, "say.sh")
        go = os.path.join(self.cluster.work, "go-on")
        with open(said, "w", encoding="utf-8") as script:
            script.write("#!/bin/sh\ncat <<'END'\n" + "\n".join(HOSTILE[:2]) + f"\nEND\n"
                         f"until [ -e {go} ]; do sleep 0.1; done; echo goes-on; exec sleep 600\n")
        job = self.cluster.submit(said)
        self.addCleanup(self.cluster.muster, "cancel", job)
        self.page.go(f"job/{job}")
        output = "return document.querySelector('pre.output')?.textContent ?? ''"
        wait_until(lambda: HOSTILE[1] in self.page.js(output), lambda: self.page.text()[:1500])
        with open(go, "w", encoding="utf-8"):
            pass
        wait_until(lambda: self.page.js(output).endswith("goes-on\n"), lambda: self.page.js(output))
        self.assertEqual(self.page.js("return document.querySelectorAll('pre.output *').length"), 0)

    def test_it_works_by_keys_alone(self):
        job = self.cluster.submit("--job-name", "by-keys", "--hold", "--wrap", "true")
        self.page.go("overview")
        body = self.page.driver.find_element(By.TAG_NAME, "body")
        body.send_keys("gq")
        self.page.drawn("queue")
        body.send_keys("/")
        self.page.driver.switch_to.active_element.send_keys("by-keys")
        wait_until(lambda: self.page.js("return document.querySelectorAll('.grid-inner .grid-row').length") == 1, "one row")
        self.assertIn("q=by-keys", self.page.js("return location.hash"))
        self.page.js("document.querySelector('.grid-body').focus()")
        self.page.driver.switch_to.active_element.send_keys(Keys.ENTER)
        self.page.drawn("job")
        self.assertEqual(self.page.js("return location.hash"), f"#job/{job}")
        self.page.driver.back()
        self.page.drawn("queue")
        self.assertEqual(self.page.js("return document.querySelector('input[type=search]').value"), "by-keys")
        self.cluster.must("cancel", job)

    def test_everything_has_a_name_and_fits_a_phone(self):
        job = self.cluster.submit("--hold", "--wrap", "true")
        phone = Page(self.port, self.token, size=(390, 844))
        self.addCleanup(phone.close)
        for view in (*VIEWS, f"job/{job}", "node/node1"):
            for page in (phone, self.page):
                page.go(view)
                nameless = page.js("""return [...document.querySelectorAll('button, a[href], input, select, textarea, [role=img]')]
                    .filter((one) => !(one.getAttribute('aria-label') || one.textContent.trim() || one.labels?.length || one.title))
                    .map((one) => one.outerHTML.slice(0, 120))""")
                self.assertEqual(nameless, [], view)
                self.assertLessEqual(page.js("return document.documentElement.scrollWidth"),
                                     page.js("return document.documentElement.clientWidth"), view)
        self.cluster.must("cancel", job)

    def test_an_end_by_memory_or_without_progress_is_an_alert_and_goodput_a_figure(self):
        said = os.path.join(self.cluster.work, "hangs.sh")
        with open(said, "w", encoding="utf-8") as script:
            script.write("#!/bin/sh\nexec sleep 600\n")
        job = self.cluster.submit("--job-name", "hangs", "--progress-timeout", "1s", said)
        self.cluster.wait_ended(job)
        self.page.go("alerts")
        self.page.await_text(f"job {job} hangs")
        self.page.await_text("showed no progress")
        self.page.go("overview")
        self.page.await_text("goodput")

    def test_a_users_share_opens_to_a_receipt_of_their_runs(self):
        job = self.cluster.submit("--wrap", "sleep 1")
        self.cluster.wait_ended(job)
        receipts = json.loads(self.cluster.must("share", "--explain", pwd.getpwuid(os.geteuid()).pw_name, "--json"))["receipts"]
        self.page.go("shares")
        wait_until(lambda: self.page.js("""
            const found = document.querySelector('details[data-key^="receipt-"]');
            if (found) { found.open = true; }
            return Boolean(found)"""), lambda: self.page.text()[:500])
        wait_until(lambda: self.page.js("return document.querySelectorAll('.receipt tbody tr').length") >= 3,
                   lambda: self.page.text()[:1500])
        rows = self.page.js("return [...document.querySelectorAll('.receipt tbody tr')].map((row) => row.innerText)")
        self.assertTrue(any(row.startswith(str(job)) for row in rows), rows)
        total = float(rows[-1].split()[-1].replace(",", ""))
        self.assertAlmostEqual(total, float(receipts[0]["total"]), delta=2 + 0.02 * total)

    def test_moments_are_told_in_the_viewers_zone(self):
        job = self.cluster.submit("--hold", "--wrap", "true")
        later = self.cluster.submit("--begin", "now+30days", "--wrap", "true")
        self.addCleanup(self.cluster.must, "cancel", job, later)
        shown = []
        for zone, hours in (("Asia/Kolkata", 5.5), ("America/Phoenix", -7)):
            self.page.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": zone})
            self.page.go(f"job/{job}")
            wait_until(lambda: self.page.js("return document.querySelector('.timeline time')?.title ?? ''"), "a moment")
            text, moment = self.page.js("const time = document.querySelector('.timeline time'); return [time.title, time.dateTime]")
            shown.append(text)
            there = datetime.datetime.fromisoformat(moment.replace("Z", "+00:00")) + datetime.timedelta(hours=hours)
            self.assertRegex(text, rf"\b({(there.hour + 11) % 12 + 1}|{there:%H}):{there:%M:%S}")
            self.page.go("queue")
            wait_until(lambda: self.page.js("return document.querySelector('.grid-row bdi time')?.title ?? ''"), "the begin")
            self.assertNotRegex(self.page.text(), r"\d\d:\d\d(:\d\d)?Z")
        self.page.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": ""})
        self.assertNotEqual(*shown)

    def test_a_controller_may_start_again_under_it(self):
        self.page.go("queue")
        self.cluster.controller.kill()
        wait_until(lambda: self.page.js("return document.getElementById('live').dataset.state") == "lost", "it says so")
        self.cluster.controller.start()
        wait_until(lambda: self.page.js("return document.getElementById('live').dataset.state") == "live", "it is back")
        job = self.cluster.submit("--job-name", "after-restart", "--hold", "--wrap", "true")
        self.page.await_text("after-restart")
        self.cluster.must("cancel", job)


@unittest.skipUnless(webdriver and BROWSER and DRIVER, "chromium, chromium-driver or python3-selenium is not installed")
class LargePageTest(unittest.TestCase):
    """10,000 jobs on 1,000 nodes with 8 GPUs each: the real controller, with agents that are played."""

    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp(prefix="mit-large-", dir="/tmp")
        cls.addClassCleanup(shutil.rmtree, cls.root, True)
        state = os.path.join(cls.root, "state")
        environment = {key: value for key, value in os.environ.items() if not key.startswith("MUSTER_")}
        played = cluster.Daemon(os.path.join("..", "tests", "large_cluster"), [state, "1000", "8", "10000"],
                                os.path.join(cls.root, "log"), environment)
        played.start()
        cls.addClassCleanup(played.stop)
        cls.port = free_port()
        gateway = cluster.Daemon("muster-gateway", ["--controller", f"unix:{state}/gateway.sock", "--listen",
                                                    f"127.0.0.1:{cls.port}"], os.path.join(cls.root, "gateway.log"), environment)
        gateway.start()
        cls.addClassCleanup(gateway.stop)
        cls.muster = [program("muster"), "token", "--state", state]
        cls.token = subprocess.run(cls.muster, capture_output=True, text=True, check=True).stdout.strip()
        cls.page = Page(cls.port, cls.token)
        cls.addClassCleanup(cls.page.close)

    def tearDown(self):
        self.assertEqual(self.page.errors(), [])

    def test_every_view_shows_all_of_it(self):
        for view in VIEWS:
            self.page.go(view)
        self.page.go("queue")
        self.page.await_text("10,000 jobs")
        self.assertLess(self.page.js("return document.querySelectorAll('.grid-row').length"), 120, "only rows in sight")
        self.page.go("nodes")
        self.page.await_text("1,000 nodes")
        self.page.go("gpus")
        self.page.await_text("8,000 GPUs on 1,000 nodes")
        self.page.go("plan")
        self.assertRegex(self.page.js("return document.querySelector('canvas').getAttribute('aria-label')"),
                         r"^[1-9],\d{3} running jobs and .* on 1,000 nodes;")
        for view, text in (("job/1", "train-llm"), ("job/9999", "Why it waits"), ("node/r25-n40", "r25-n40")):
            self.page.go(view)
            self.page.await_text(text)

    def test_filters_work_on_what_is_here(self):
        self.page.go("queue")
        self.page.await_text("10,000 jobs")
        self.page.js("""const search = document.querySelector('input[type=search]');
            search.value = 'solver ada'; search.dispatchEvent(new Event('input'))""")
        self.page.await_text(" of 10,000 jobs")
        rows = self.page.js("return [...document.querySelectorAll('.grid-inner .grid-row')].map((row) => row.innerText)")
        self.assertTrue(rows and all("solver" in row and "ada" in row for row in rows), rows[:3])
        self.page.js("""const body = document.querySelector('.grid-body'); body.scrollTop = body.scrollHeight""")
        self.page.go("queue?user=bob&state=PENDING")
        self.assertIn("user=bob", self.page.js("return location.hash"))
        wait_until(lambda: all("bob" in row for row in self.page.js(
            "return [...document.querySelectorAll('.grid-inner .grid-row')].map((row) => row.innerText)")), "bob's alone")

    def test_the_history_has_all_of_it_once_it_has_ended(self):
        """The last of its tests, by its name: nothing runs or waits from here on."""
        ended = subprocess.run([program("muster"), "cancel", "--state", os.path.join(self.root, "state"), "--user",
                                "ada,bob,chen,dora,emil,fay,gus,hana"], capture_output=True, text=True)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.page.go("history")
        self.page.await_text("10,000 jobs")
        self.assertLess(self.page.js("return document.querySelectorAll('.grid-row').length"), 120, "only rows in sight")
        self.page.go("queue")
        self.page.await_text("0 jobs")


@unittest.skipUnless(webdriver and BROWSER and DRIVER, "chromium, chromium-driver or python3-selenium is not installed")
class EmptyPageTest(unittest.TestCase):
    """No job and no node at all, or one of each; and whoever has no session."""

    def test_every_view_shows_the_only_job(self):
        single = Cluster(nodes=1, topology=cluster.WIDE)
        self.addCleanup(single.close)
        door = f"unix:{single.state}/gateway.sock"
        single.controller.arguments += ["--gateway-socket", door]
        single.start()
        port = free_port()
        gateway = single._daemon("muster-gateway", ["--controller", door, "--listen", f"127.0.0.1:{port}"], "gateway")
        gateway.start()
        self.addCleanup(gateway.stop)
        page = Page(port, single.must("token"))
        self.addCleanup(page.close)
        job = single.submit("--job-name", "the-only-one", "--wrap", "sleep 600")
        single.wait_state(job, "RUNNING")
        for view in VIEWS:
            page.go(view)
        for view, text in (("overview", "the-only-one"), ("queue", "1 job"), ("history", "0 jobs"), ("nodes", "1 node"),
                           (f"job/{job}", "the-only-one"), ("alerts", "Nothing needs a look.")):
            page.go(view)
            page.await_text(text)
            self.assertNotIn("1 jobs", page.text(), view)
            self.assertNotIn("1 nodes", page.text(), view)
        page.go("plan")
        self.assertIn("1 running job", page.js("return document.querySelector('canvas').getAttribute('aria-label')"))
        single.must("cancel", job)
        single.wait_ended(job)
        page.go("history")
        page.await_text("1 job")
        page.go("queue")
        page.await_text("0 jobs")
        self.assertEqual(page.errors(), [])

    def test_every_view_says_that_there_is_nothing(self):
        empty = Cluster(nodes=0)
        self.addCleanup(empty.close)
        door = f"unix:{empty.state}/gateway.sock"
        empty.controller.arguments += ["--gateway-socket", door]
        empty.start()
        port = free_port()
        gateway = empty._daemon("muster-gateway", ["--controller", door, "--listen", f"127.0.0.1:{port}"], "gateway")
        gateway.start()
        self.addCleanup(gateway.stop)
        page = Page(port, empty.must("token", "--read-only"))
        self.addCleanup(page.close)
        for view in VIEWS:
            page.go(view)
        page.go("job/7")
        page.await_text("no such job")
        self.assertEqual(page.errors(), [])
        page.js("sessionStorage.clear()")
        page.driver.refresh()
        page.await_text("muster web")


if __name__ == "__main__":
    unittest.main()
