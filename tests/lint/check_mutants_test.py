"""Mutants mean what the source means while they are off, and are found where faults can be."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts" / "lib"))
from mutants.places import apply, find_places  # noqa: E402


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


if __name__ == "__main__":
    unittest.main()
