"""The runner of commands in documents passes what the documents say and fails everything else."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RUNNER = Path(__file__).resolve().parents[1] / "docs/run_commands.py"


class RunCommandsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "testdata/examples/inner").mkdir(parents=True)
        (self.root / "testdata/examples/file.txt").write_text("bundled\n")

    def run_document(self, text: str) -> tuple[int, str]:
        (self.root / "page.md").write_text(text)
        run = subprocess.run([sys.executable, RUNNER, "--root", self.root, "--tools", self.root], text=True,
                             capture_output=True)
        return run.returncode, run.stdout

    def assert_passes(self, text: str) -> None:
        status, output = self.run_document(text)
        self.assertEqual(status, 0, output)
        self.assertNotIn("not ok", output)

    def assert_fails(self, text: str, complaint: str) -> None:
        status, output = self.run_document(text)
        self.assertEqual(status, 1, output)
        self.assertIn(complaint, output)

    def test_commands_run_in_a_copy_of_the_examples(self):
        self.assert_passes("```console\n$ cat file.txt\nbundled\n$ echo changed > file.txt\n```\n")
        self.assertEqual((self.root / "testdata/examples/file.txt").read_text(), "bundled\n")

    def test_blocks_share_files_and_begin_in_the_top_folder(self):
        self.assert_passes("```console\n$ cd inner\n$ echo one > ../new.txt\n```\n\n```console\n$ cat new.txt\none\n```\n")

    def test_output_is_compared_where_it_is_shown(self):
        self.assert_passes("```console\n$ echo one; echo two >&2\n$ printf 'a\\nb\\nc\\n'\na\n...\nc\n```\n")
        self.assert_fails("```console\n$ echo one\ntwo\n```\n", "+one")
        self.assert_fails("```console\n$ echo one\none\n...\ntwo\n```\n", "-two")
        self.assert_fails("```console\n$ true\none\n```\n", "-one")

    def test_exit_statuses_are_as_stated(self):
        self.assert_passes("```console\n$ exit 3  # exit status 3\n```\n")
        self.assert_fails("```console\n$ exit 3\n```\n", "exit status 3, expected 0")
        self.assert_fails("```console\n$ true  # exit status 1\n```\n", "exit status 0, expected 1")

    def test_commands_may_have_several_lines(self):
        self.assert_passes("```console\n$ echo a \\\n    b\na b\n$ cat <<'END'\n> x\n> END\nx\n```\n")

    def test_a_command_elsewhere_is_named(self):
        self.assert_fails("Text:\n\n    mllm-fmt model.mir\n", "page.md:3: 'mllm-fmt model.mir' is not in a block")
        self.assert_fails("```\n$ true\n```\n", "page.md:2: '$ true' is not in a block")

    def test_commands_that_are_not_run_need_a_reason_and_their_scripts(self):
        self.assert_passes("```console not run: minutes\n$ false\n```\n")
        self.assert_fails("```console not run: later\n$ false\n```\n", "'later' is no reason")
        self.assert_fails("```console not run: minutes\n$ scripts/gone --all\n```\n", "there is no scripts/gone")
        self.assert_fails("```console skipped\n$ false\n```\n", "neither 'console' nor 'console not run: REASON'")

    def test_a_block_without_commands_fails(self):
        self.assert_fails("```console\nno command\n```\n", "no line begins with '$ '")


if __name__ == "__main__":
    unittest.main()
