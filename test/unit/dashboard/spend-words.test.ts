import { expect, it } from "vitest";
import { dollarTick } from "../../../src/surfaces/web/dashboard/spend/labels.ts";

it("writes money on an axis as money is written, and without cents where all are whole", () => {
  const spelled = [0, 0.005, 0.05, 0.1, 0.5, 0.1 + 0.2, 1, 2.5, 500, 1_500].map(dollarTick);
  expect(spelled).toEqual([...["$0", "$0.005", "$0.05", "$0.10", "$0.50", "$0.30", "$1", "$2.50", "$500", "$1.5k"]]);
});
