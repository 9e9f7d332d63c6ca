import { expect, it } from "vitest";
import { pageBudget, toolText } from "../../../src/surfaces/web/dashboard/sessions/said.ts";

it("shows a tool's text without what is blank around it, however much of it is blank within", () => {
  const shown = (text: string) => `${toolText(text, "Output", "Output 1", pageBudget())}`;
  expect(shown("\n\n  done \n\n")).toContain("<code>  done</code>");
  expect(shown(" \n ")).toBe("false");
  const started = performance.now();
  expect(shown(`a${" ".repeat(1_000_000)}b`)).toContain("Output, 1,000,002 characters");
  // An expression that looked for blanks at the end took a quarter of an hour, and nobody else was answered meanwhile.
  expect(performance.now() - started).toBeLessThan(3_000);
});
