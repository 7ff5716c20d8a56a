// What pasted lines mean as criteria.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pastedCriteria } from "../../../static/js/rubrics/criteria/pasted_table.js";

/** Of each criterion what differs from an empty one. */
const short = (text) =>
  pastedCriteria(text).map(({ name, requirement, weight, kind, group, options }) =>
    Object.fromEntries(
      Object.entries({ name, requirement, weight, kind, group, options }).filter(
        ([key, value]) => value.length > 0 && !(key === "kind" && value === "binary"),
      ),
    ),
  );

test("lines are requirements, without their bullets and numbers", () => {
  assert.deepEqual(short("- Is kind.\r\n2) Is short.\n\n3.5 is a number.\n"), [
    { requirement: "Is kind." },
    { requirement: "Is short." },
    { requirement: "3.5 is a number." },
  ]);
});

test("one line is text, whatever it holds", () => {
  assert.deepEqual(pastedCriteria("Is kind.\n"), []);
  assert.deepEqual(pastedCriteria("city\tNames it."), []);
});

test("two columns with numbers are requirements and weights; more are name, requirement, weight, kind, options", () => {
  assert.deepEqual(short("Is kind.\t2\nIs short.\t-1,5"), [
    { requirement: "Is kind.", weight: "2" },
    { requirement: "Is short.", weight: "-1.5" },
  ]);
  assert.deepEqual(short("a\tIs a.\t1\nb\tIs b.\t2\tchoice\tno=0; yes=1"), [
    { name: "a", requirement: "Is a.", weight: "1" },
    {
      name: "b",
      requirement: "Is b.",
      weight: "2",
      kind: "choice",
      options: [
        { label: "no", value: "0" },
        { label: "yes", value: "1" },
      ],
    },
  ]);
});

test("a header says which column is which, and is no criterion; one row below it is enough", () => {
  assert.deepEqual(short("Points\tCriterion\tDescription\n3\tcity\tNames it."), [
    { name: "city", requirement: "Names it.", weight: "3" },
  ]);
  assert.deepEqual(short("Criterion\tPoints\nNames it.\t3"), [{ requirement: "Names it.", weight: "3" }]);
});

test("a quoted cell of a spreadsheet holds line breaks, tabs and quotes", () => {
  assert.deepEqual(short('Name\tRequirement\nx\t"Says\n""yes""\tor no."\ny\tIs "so".'), [
    { name: "x", requirement: 'Says\n"yes"\tor no.' },
    { name: "y", requirement: 'Is "so".' },
  ]);
});
