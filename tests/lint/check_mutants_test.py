"""Mutants mean what the source means while they are off, and are found where faults can be."""

import json
import subprocess
import sys
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "lib"))
from mutants.places import apply, find_places  # noqa: E402
from mutants.program import Program  # noqa: E402
from mutants.suites import (Test, all_finding_tests, doctest_cases, finding_test, grouped, joined,  # noqa: E402
                            measure, passes, session_of)


def mutations(body: str) -> set[tuple[str, str]]:
    """What is found in a function with this body, and what it becomes."""
    return {(place.before, place.after) for place in find_places("int f() {\n  " + body + "\n}\n")}


class PlacesTest(unittest.TestCase):
    def test_operands_end_where_operators_bind_less(self):
        self.assertEqual(mutations("return x && a + b * c < d - e || y;"), {
            ("x && a + b * c < d - e", "x || a + b * c < d - e"),
            ("x && a + b * c < d - e || y", "x && a + b * c < d - e && y"),
            ("a + b * c < d - e", "a + b * c <= d - e"),
            ("a + b * c < d - e", "a + b * c >= d - e"),
            ("a + b * c", "a - b * c"),
            ("d - e", "d + e"),
        })

    def test_conditions_and_negations(self):
        self.assertEqual(mutations("if (!done(x)) g = y;"),
                         {("!done(x)", "!(!done(x))"), ("!done(x)", "done(x)"), ("g = y;", "")})
        self.assertEqual(mutations("if (auto x = y(); x) return x;"), set())

    def test_constants_results_and_jumps(self):
        self.assertEqual(mutations("return g(0, 1, 7);"), {("0", "1"), ("1", "0"), ("7", "7 + 1")})
        self.assertEqual(mutations("return true;"), {("true", "false")})
        self.assertEqual(mutations("for (;;) continue;"), {("continue;", "break;")})

    def test_statements_are_calls_and_assignments(self):
        self.assertEqual(mutations("list.at(i).add<int>(x);"), {("list.at(i).add<int>(x);", "")})
        self.assertEqual(mutations("*at = x;"), {("*at = x;", "")})
        for declaration in ("Lock lock(mutex);", "auto x = y;", "int x = y;", "list.reserve(n);"):
            self.assertEqual(mutations(declaration), set(), declaration)

    def test_what_changes_only_time_and_memory_is_left_out(self):
        for text in ("list.reserve(n + 1);", "hwy::Prefetch(at + 4);", "assert(a < b);"):
            self.assertEqual(mutations(text), set(), text)
        self.assertEqual(mutations("list.resize(n + 1);"),
                         {("list.resize(n + 1);", ""), ("n + 1", "n - 1"), ("1", "0")})

    def test_seeds_of_hashes_are_left_out_and_what_is_hashed_is_not(self):
        for head in ("std::size_t hash_of(int x)", "std::uint32_t hash(int x) const", "std::size_t combined_hash(int x)"):
            found = {(place.before, place.after) for place in
                     find_places(head + " {\n  if (x > 0) add(x);\n  return x * 31 + 7;\n}\n")}
            self.assertEqual(found, {("x > 0", "!(x > 0)"), ("x > 0", "x >= 0"), ("x > 0", "x <= 0"),
                                     ("add(x);", "")}, head)
        for head in ("Hash hash_of(int x)", "std::uint64_t hash(int x)", "std::size_t hashes(int x)", "int f(int x)"):
            self.assertEqual(len(find_places(head + " {\n  return x + 7;\n}\n")), 2, head)

    def test_loops_whose_time_is_measured_are_left_out(self):
        loop = "for (int i = 0; i < 9; ++i) {}"
        self.assertEqual(mutations(f'{loop} asm volatile("" : : "r"(x) : "memory"); return i + 1;'), set())
        self.assertNotEqual(mutations(f'{loop} asm volatile("" : "+v"(x)); return i + 1;'), set())

    def test_what_cannot_compile_is_left_out(self):
        for text in ('return name + ".err";', 'return ".err" + name;', "return at - text.data();"):
            self.assertEqual(mutations(text), set(), text)
        self.assertEqual(mutations("return a - b.size();"), {("a - b.size()", "a + b.size()")})

    def test_what_the_compiler_must_know_is_left_out(self):
        for text in ("constexpr int kN = 4;", "std::array<int, 4> a;", "if constexpr (n == 4) g;",
                     "static_assert(n == 4);", "switch (x) { case 4: ; }", 'g("a < b"); // 1 + 2', "CHECKED(a < b, 1);"):
            found = {before for before, _ in mutations(text)} - {'g("a < b");'}
            self.assertEqual(found, set(), text)
        self.assertEqual(find_places("constexpr int kTable[] = {1, 2};\nstruct A { int x = 1; };\n#define M(x) x + 1\n"), [])

    def test_a_switched_form_keeps_the_source_around_it(self):
        source = "int f() {\n  return a ==\n         b;\n}\nint g() { return 7; }\n"
        places = find_places(source)
        for number, place in enumerate(places, 1):
            place.number = number
        self.assertEqual(apply(source, places),
                         "int f() {\n  return (mir_mutant_is(1) ? (a !=\n         b) : (a ==\n         b));\n}\n"
                         "int g() { return (mir_mutant_is(2) ? (7 + 1) : (7)); }\n")
        self.assertEqual([list(place.lines_after) for place in places], [[2, 3, 4], [6]])

    def test_functions_of_the_compiler_are_switched_at_run_time_only(self):
        place, = find_places("constexpr int f() { return 7; }\n")
        self.assertIn("mir_mutant_is_at_run_time(", place.switched)
        self.assertEqual(find_places("consteval int f() { return 7; }\n"), [])


class JudgingTest(unittest.TestCase):
    """A program with three places, of which its test executes two and checks one."""

    SOURCE = """
        #include <cstdlib>
        int twice(int x) { return x * 2; }
        int spare(int x) { return x; }
        int main(int count, char**) {
          if (count == 2) return system("env -i ./program a b") == 0 ? 0 : 1;
          if (count > 3) spare(7);
          return twice(3) == 6 && spare(0) == 0 ? 0 : 1;
        }
    """

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.work = Path(cls.folder.name)
        cls.places = [place for place in find_places(cls.SOURCE, "src/ir/toy.cpp")
                      if place.before in ("2", "count > 3", "7") and place.kind in ("constant", "condition")]
        cls.places = [place for place in cls.places if place.before != "2" or place.line == 3]
        for number, place in enumerate(cls.places, 1):
            place.number = number
        cls.program = Program(ROOT, cls.work, cls.places)
        source = cls.work / "program.cpp"
        source.write_text(apply(cls.SOURCE, cls.places))
        subprocess.run(["c++", "-std=c++20", "-O1", f'-DMIR_MUTANTS_SWITCH="{cls.program.switch_file}"', "-include",
                        str(ROOT / "scripts/lib/mutants/switch.hpp"), str(source), "-o", str(cls.work / "program")],
                       check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def a_test(self, *arguments: str) -> Test:
        return Test("toy " + " ".join(arguments), ["./program", *arguments], str(self.work), {})

    def test_the_places_are_those_meant(self):
        self.assertEqual([place.before for place in self.places], ["2", "count > 3", "7"])

    def test_a_mutant_is_on_in_the_session_of_its_test_alone(self):
        test = self.a_test()
        for number, passed in ((0, True), (1, False), (2, True), (3, True)):
            self.assertEqual(passes(test, 60, self.program, number)[0], passed, number)
        found, reached = passes(self.a_test("a"), 60, self.program, 1)
        self.assertFalse(found, "of a child whose environment is empty")
        self.assertEqual([number for number, byte in enumerate(reached) if byte], [1, 2])
        self.assertEqual(list(self.work.glob("switch.*")), [])

    def test_a_test_that_takes_too_long_fails(self):
        self.assertFalse(passes(Test("sleep", ["sleep", "60"], str(self.work), {}), 0.5, self.program)[0])

    def test_what_a_test_started_ends_with_it(self):
        pids = self.work / "pids"
        script = f"set -m; sleep 60 & echo $! > {pids}; exec sleep 60"  # in a process group of its own
        self.assertFalse(passes(Test("groups", ["bash", "-c", script], str(self.work), {}), 1, self.program)[0])
        self.assertIsNone(session_of(int(pids.read_text())))

    def test_tests_are_measured_and_judge_several_at_a_time(self):
        tests = [self.a_test(), self.a_test("a"), Test("false", ["false"], str(self.work), {})]
        good, bad = measure(tests, self.program, 2, 60)
        self.assertEqual([test.name for test in bad], ["false"])
        self.assertEqual(finding_test(self.places[0], good, self.program, 60).name[:3], "toy")
        self.assertIsNone(finding_test(self.places[0], good, self.program, 0))
        self.assertIsNone(finding_test(self.places[2], good, self.program, 60))
        self.assertFalse(any(test.reached[3] for test in good))
        self.assertEqual(all_finding_tests(self.places[0], good, self.program), good)
        self.assertEqual(all_finding_tests(self.places[2], good, self.program), [])

    def test_mutants_are_counted_that_a_test_finds_alone(self):
        loader = SourceFileLoader("script", str(ROOT / "scripts/check_mutants"))
        script = module_from_spec(spec_from_loader("script", loader))
        loader.exec_module(script)
        one, two = (Test("ir", ["./ir"], ".", {}, (case,), 0.1, reached) for case, reached in
                    (("a", b"\0\1\1"), ("b", b"\0\1\0")))
        counts = self.work / "counts.json"
        for _ in range(2):
            script.count_cases(counts, [one, two], {1: [one, two], 2: [one]})
        self.assertEqual(json.loads(counts.read_text()), {"ir: a": {"reached": 4, "found": 4, "alone": 2},
                                                          "ir: b": {"reached": 2, "found": 2, "alone": 0}})

    def test_cases_are_listed_once_and_named_by_patterns(self):
        listing = "[doctest] listing all test case names\\n=====\\na: 1, 2\\nb\\na: 1, 2\\n[doctest] unskipped: 3\\n"
        self.assertEqual(doctest_cases(["sh", "-c", f"printf '{listing}'"], "."), ["a: 1, 2", "b"])
        test = Test("toy", ["./toy"], ".", {}, ("a: 1, 2", "b\\*"))
        self.assertEqual(test.full_command(), ["./toy", "--test-case=a: 1? 2,b??"])
        self.assertEqual(self.a_test("a").full_command(), ["./program", "a"])

    def test_short_cases_of_a_program_run_together(self):
        def case(name: str, case: str, seconds: float) -> Test:
            return Test(name, [f"./{name}"], ".", {}, (case,), seconds)
        golden = Test("golden", ["check"], ".", {}, (), 0.01)
        long = case("ir", "c", 2)
        tests = [joined(group) for group in grouped([case("ir", "a", 0.1), long, case("ir", "b", 0.05), golden,
                                                     case("plan", "a", 0.02)])]
        self.assertEqual([(test.name, test.cases) for test in tests],
                         [("ir", ("c",)), ("golden", ()), ("ir", ("a", "b")), ("plan", ("a",))])
        self.assertAlmostEqual(tests[2].seconds, 0.15)


if __name__ == "__main__":
    unittest.main()
