import { expect, it } from "vitest";
import { spendCsv } from "../../../src/insight/spend/spend.ts";

const figures = {
  ...{ usd: 1.5, reportedUsd: null, inputTokens: 1, outputTokens: 2, cacheWriteTokens: 3 },
  ...{ cacheReadTokens: 4, unpricedTokens: 0, usages: 1 },
};

const linesOf = (...of: Parameters<typeof spendCsv>) => [...spendCsv(...of)].join("").split(/(?<=\r\n)/);

it("neutralises what a spreadsheet would take for a formula, and quotes what would break a line", () => {
  const keys = ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "\nx", "＝1", 'say "x", y', "a;=1", "a=1", ""];
  const lines = linesOf(
    "branch",
    keys.map((key) => ({ key, ...figures })),
  );
  expect(lines[0]).toBe(
    "branch,usd,reportedUsd,inputTokens,outputTokens,cacheWriteTokens,cacheReadTokens,unpricedTokens,usages\r\n",
  );
  const firsts = lines.slice(1).map((line) => line.slice(0, line.indexOf(",1.5,,1,2,3,4,0,1\r\n")));
  expect(firsts).toEqual([
    ...["'=1+1", "'+1", "'-1", "'@x", `"'\tx"`, `"'\rx"`, `"'\nx"`, "'＝1", '"say ""x"", y"', '"a;=1"', "a=1", ""],
  ]);
});

it("names the device of a session", () => {
  const [head, line] = linesOf("session", [{ key: "s", deviceId: "dev_1", ...figures }]);
  expect(head).toMatch(/^session,deviceId,usd,/);
  expect(line).toMatch(/^s,dev_1,1\.5,/);
});

it("has a line for each of very many groups, in few pieces", () => {
  const groups = Array.from({ length: 5_000 }, (_, i) => ({ key: `k-${i}`, ...figures }));
  expect(linesOf("branch", groups).map((line) => line.split(",")[0])).toEqual([
    "branch",
    ...groups.map(({ key }) => key),
  ]);
  expect([...spendCsv("branch", groups)].length).toBeLessThan(50);
});
