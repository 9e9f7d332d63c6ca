import { expect, it } from "vitest";
import { pageBudget, toolText } from "../../../src/surfaces/web/dashboard/sessions/said.ts";

it("trims a tool's text, however many blanks it holds", () => {
  const shown = (text: string) => `${toolText(text, "Output", "Output 1", pageBudget())}`;
  expect(shown("\n\n  done \n\n")).toContain("<code>  done</code>");
  expect(shown(" \n ")).toBe("false");
  // An expression that looked for blanks at the end took a quarter of an hour, in which nobody else was answered.
  expect(shown(`a${" ".repeat(1_000_000)}b`)).toContain("Output, 1,000,002 characters");
});
