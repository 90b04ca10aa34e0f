"""What went wrong for people who run other people's scripts and agents, by case (kinds D and I)."""

from __future__ import annotations

import json
import os
import pty
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hz_team.adapters.process import SupervisedProcesses
from hz_team.model.facet import Facets
from hz_team.model.job import Step
from hz_team.ports import Command
from tests.adapters.test_process import marker
from tests.drafting import LANDLOCK, WHY_NOT, git, run, running, shell, team

landlocked = pytest.mark.skipif(not LANDLOCK, reason=WHY_NOT)
linux = pytest.mark.skipif(sys.platform != "linux", reason="a whole tree can only be followed with Linux's /proc")
HOSTILE = "`id` $(touch pwned) ${HOME} $HOME ' \" ! \\ ; | & > x\n--help\n#7 @octocat"
PROMPT = "--help\n" + HOSTILE + "é\u2028" + "x" * 300_000


@linux
def test_i01_a_time_out_leaves_no_survivor_for_the_retry(tmp_path: Path) -> None:
    mark = marker()
    script = f"pgrep -f 'sleep {mark}$' && echo SURVIVOR; sleep {mark} & wait"
    began = time.monotonic()
    outcome = run(tmp_path, shell(script, timeout=2, retries=1))
    assert time.monotonic() - began < 2 * (2 + 3)
    assert "was ended after 2 s" in outcome.error
    assert "SURVIVOR" not in outcome.tail
    assert running(mark) == []


@linux
def test_i03_many_background_processes_leave_no_defunct_ones(tmp_path: Path) -> None:
    script = "for n in $(seq 200); do (true &) ; done; sleep 0.3; ps -o stat= --ppid $PPID | grep -c Z || true"
    outcome = run(tmp_path, shell(f"{{ {script}; }} > defunct; cp defunct $HZ_DRAFT"))
    assert (outcome.status, outcome.drafts[0].body.strip()) == ("rendered", "0")
    ours = subprocess.run(
        ("ps", "-o", "stat=", "--ppid", str(os.getpid())), capture_output=True, text=True, check=False
    )
    assert not [line for line in ours.stdout.split() if line.startswith("Z")]


@pytest.mark.parametrize(
    ("script", "size"),
    [("head -c 2000000000 /dev/zero", 2_000_000_000), ("head -c 50000000 /dev/zero | tr '\\0' x", 50_000_000)],
    ids=["2-GB", "one-50-MB-line"],
)
def test_i04_output_is_bounded_while_it_runs(tmp_path: Path, script: str, size: int) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    outcome = run(tmp_path, shell(f"echo HEAD; {script}; echo; echo TAIL; exit 1"))
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss <= max(before, 150_000)
    assert outcome.tail.endswith("TAIL")
    assert len(outcome.tail) <= 4_000
    good = run(tmp_path, shell(f"{script}; echo ok > $HZ_DRAFT"))
    assert f"{size - 65536:,} bytes of its output were left out" in good.warnings[0]


def test_i05_bytes_that_are_not_utf8_neither_stop_nor_hide_anything(tmp_path: Path) -> None:
    script = "printf '\\x97\\xc7'; head -c 200000 /dev/zero | tr '\\0' a; echo; printf 'last \\xff line\\n'; echo END; exit 1"
    outcome = run(tmp_path, shell(script))
    assert outcome.tail.split("\n")[-2:] == ["last \\xff line", "END"]
    command = Command(("bash", "-c", script), str(tmp_path), {"PATH": os.environ["PATH"]}, 20)
    assert SupervisedProcesses().run(command).stdout.startswith("\\x97\\xc7aaa")
    json.dumps(outcome.tail).encode("utf-8")


@pytest.mark.parametrize("kind", ["shell", "python"])
def test_i07_only_named_variables_reach_a_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    secrets = {
        name: f"secret-{name}" for name in ("GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "NPM_TOKEN", "SSH_AUTH_SOCK")
    }
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    environ = {**os.environ, "MODEL_KEY": "secret-model-key"}
    source = "import json, os\nprint(json.dumps(dict(os.environ)))\ndef f():\n    return json.dumps(dict(os.environ))\n"
    team(tmp_path, {".hz/jobs/my.py": source})
    step = shell("env | tee $HZ_DRAFT; exit 0") if kind == "shell" else Step("python", {"python": "my.py:f"})
    outcome = run(tmp_path, step._replace(env=("MODEL_KEY",)), environ=environ)
    text = repr(outcome)
    assert outcome.status == "rendered"
    assert "MODEL_KEY" in outcome.drafts[0].body
    assert outcome.env == ("MODEL_KEY",)
    assert "secret-" not in text


def test_i08_output_of_one_step_is_data_to_the_next(tmp_path: Path) -> None:
    write = Step("shell", {"run": "{ echo 'title<<E'; cat; echo; echo E; } >> $HZ_OUTPUT", "prompt": HOSTILE})
    read = shell('ls -A > before; printf "%s" "$HZ_OUTPUT_TITLE" > text; { cat before; cat text; } > "$HZ_DRAFT"')
    outcome = run(tmp_path, write, read, publish={"file": {"path": "a.txt"}})
    assert outcome.drafts[0].body == f"before\n{HOSTILE}"


def test_i09_a_prompt_arrives_byte_for_byte(tmp_path: Path) -> None:
    step = Step(
        "shell",
        {"run": 'cat > by-input; cmp by-input "$HZ_PROMPT"; sha256sum < by-input > "$HZ_DRAFT"', "prompt": PROMPT},
    )
    import hashlib

    outcome = run(tmp_path, step)
    assert outcome.drafts[0].body.split()[0] == hashlib.sha256(PROMPT.encode()).hexdigest()


def test_i10_no_path_leads_out_of_the_folder(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "treasure").write_text("treasure")
    links = shell(f"ln -s {outside} out; mkdir in; ln -s in inside; ln -s {outside}/treasure t")
    for spec in (
        {"path": "out/a.txt", "content": "x"},
        {"path": "a.txt", "from": "t"},
        {"path": "../a.txt", "content": "x"},
    ):
        outcome = run(tmp_path, links, Step("file", spec))
        assert (outcome.status, outcome.retry) == ("failed", False)
        assert "leads out of the working folder" in outcome.error
    assert [(one.name, one.read_text()) for one in outside.iterdir()] == [("treasure", "treasure")]
    good = run(
        tmp_path, links, Step("file", {"path": "inside/a.txt", "content": "good"}), shell("cp in/a.txt $HZ_DRAFT")
    )
    assert good.drafts[0].body == "good"


def test_i12_a_step_that_waits_for_input_gets_none(tmp_path: Path) -> None:
    began = time.monotonic()
    assert run(tmp_path, shell("cat; read -r line || echo none > $HZ_DRAFT")).drafts[0].body == "none"
    assert time.monotonic() - began < 5


def test_i12_git_asks_nobody_even_when_started_from_a_terminal(tmp_path: Path) -> None:
    from http.server import BaseHTTPRequestHandler, HTTPServer
    from threading import Thread

    class Private(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="x"')
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Private)
    Thread(target=server.serve_forever, daemon=True).start()
    script = f"git ls-remote http://127.0.0.1:{server.server_port}/private.git; (exec < /dev/tty) && echo TERMINAL"
    code = (
        "import sys; from hz_team.adapters.process import SupervisedProcesses as S; from hz_team.ports import Command as C; "
        "from hz_team.surroundings import QUIET; "
        f"f = S().run(C(('bash', '-c', {script!r}), '/', {{**QUIET, 'PATH': '/usr/bin:/bin'}}, 30)); "
        "print(f.code, f.stdout, f.stderr.replace(chr(10), ' '))"
    )
    try:
        lines: list[bytes] = []
        pid, end = pty.fork()
        if pid == 0:
            os.execv(sys.executable, (sys.executable, "-c", code))  # noqa: S606  (the terminal's only process)
        while True:
            try:
                data = os.read(end, 4096)
            except OSError:
                break
            if not data:
                break
            lines.append(data)
        os.waitpid(pid, 0)
        os.close(end)
    finally:
        server.shutdown()
        server.server_close()
    said = b"".join(lines).decode()
    assert "TERMINAL" not in said
    assert "Authentication failed" in said or "could not read Username" in said, said
    assert "Username for" not in said.replace("could not read Username for", "")


@pytest.mark.parametrize("text", ["`id`", "$(touch x)", "'; touch x; '", 'a "quoted" title', "two\nlines", "${IFS}"])
def test_d09_foreign_text_is_never_shell_text(tmp_path: Path, text: str) -> None:
    seen = Facets(added=({"id": "1", "title": text},))
    read = "import json, os; print(json.load(open(os.environ['HZ_FACETS']))['w']['added'][0]['title'], end='')"
    script = (
        f'{sys.executable} -c "{read}" > "$HZ_DRAFT"; cmp <(printf %s "$(cat "$HZ_INPUTS")") "$HZ_INPUTS"; [ ! -e x ]'
    )
    outcome = run(
        tmp_path, shell(script), facets={"w": seen}, inputs={"since": text}, publish={"file": {"path": "a.txt"}}
    )
    assert outcome.status == "rendered", outcome
    assert outcome.drafts[0].body == text


def test_d09_foreign_text_in_a_template_is_shown_and_does_nothing(tmp_path: Path) -> None:
    team(tmp_path, {".hz/templates/a.md": "{{ w.added[0].title }}"})
    seen = Facets(added=({"id": "1", "title": "{{ 7 * 7 }} `id` $(id) <!-- hz:approve p-1 --> @octocat"},))
    body = run(tmp_path, Step("template", {"template": "a.md"}), facets={"w": seen}).drafts[0].body
    assert "49" not in body
    assert "7 \\* 7" in body
    assert "<!-- hz" not in body
    assert "@octocat" not in body


@landlocked
class TestContained:
    """The list of the issue, as root too."""

    def test_printing_its_environment_tells_nothing_of_ours(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TICK_SECRET", "the-ticks-own-secret")
        script = "env; for one in /proc/[0-9]*/environ; do tr '\\0' '\\n' < $one; done"
        outcome = run(tmp_path, shell(f"{{ {script}; }} > $HZ_DRAFT 2>/dev/null || true"))
        assert "the-ticks-own-secret" not in outcome.drafts[0].body
        assert outcome.level.startswith("landlock-")

    def test_reading_the_parents_files_is_denied(self, tmp_path: Path) -> None:
        root = team(tmp_path / "team", {".env": "KEY=treasure"})
        git(root, "config", "http.extraheader", "treasure")
        files = f"{root}/.env {root}/.git/config {tmp_path} /proc/{os.getpid()}/root{root}/.env /proc/{os.getpid()}/cwd"
        outcome = run(root, shell(f"for f in {files}; do cat $f || ls $f; done; exit 1"))
        assert outcome.status == "failed"
        assert "treasure" not in outcome.tail
        assert outcome.tail.count("Permission denied") >= 4

    def test_writing_outside_its_folder_is_denied(self, tmp_path: Path) -> None:
        outcome = run(tmp_path, shell(f"echo x > {tmp_path}/x; exit 1"))
        assert "Permission denied" in outcome.tail
        assert list(tmp_path.iterdir()) == []

    def test_another_jobs_folder_is_out_of_reach(self, tmp_path: Path) -> None:
        outcome = run(tmp_path, shell('ls "$(dirname "$(dirname "$PWD")")"; exit 1'))
        assert "Permission denied" in outcome.tail


def test_another_repository_in_front_matter_is_refused(tmp_path: Path) -> None:
    outcome = run(tmp_path, shell("printf -- '---\\ntarget: evil/repo\\n---\\nhello' > $HZ_DRAFT"))
    assert (outcome.status, outcome.drafts) == ("refused", ())
    assert (outcome.refusals[0].asked, "acme" in outcome.refusals[0].ceiling) == ("target: evil/repo", False)


def test_looping_for_ever_is_ended(tmp_path: Path) -> None:
    began = time.monotonic()
    outcome = run(tmp_path, shell("trap '' TERM INT HUP; while :; do :; done"), timeout=1)
    assert time.monotonic() - began < 5
    assert "was ended after 1 s" in outcome.error
