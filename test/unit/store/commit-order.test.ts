import { expect, it } from "vitest";
import { CommitOrder } from "../../../src/platform/store/commit-order.ts";

const of = (team: string | undefined, name: string) => ({
  name,
  payer: team === undefined ? undefined : { team, credential: `${team}-1` },
});

function order(...items: readonly ReturnType<typeof of>[]) {
  const waiting = new CommitOrder<ReturnType<typeof of>>();
  for (const item of items) waiting.push(item);
  const turn = (now = 0) => [...waiting.turn(now)].map(({ name }) => name);
  return { waiting, turn };
}

it("groups small changes, in their order, whoever sends them", () => {
  const { turn } = order(of("a", "1"), of("b", "2"), of(undefined, "3"));
  expect([turn(), turn()]).toEqual([["1", "2", "3"], []]);
});

it("gives large changes a turn of their own, between small ones, team by team", () => {
  const { waiting, turn } = order();
  waiting.took(of("a", "before"), 6, 0);
  waiting.took(of("b", "before"), 6, 0);
  for (const name of ["a1", "a2", "a3"]) waiting.push(of("a", name));
  waiting.push(of("b", "b1"));
  waiting.push(of("c", "c1"));
  expect(turn()).toEqual(["c1"]);
  waiting.push(of("c", "c2"));
  waiting.push(of(undefined, "page"));
  expect(turn()).toEqual(["a1"]);
  expect(turn()).toEqual(["c2", "page"]);
  expect([turn(), turn(), turn(), waiting.length]).toEqual([["b1"], ["a2"], ["a3"], 0]);
});

it("keeps for the next turn what this one did not take", () => {
  const { waiting, turn } = order(of("a", "1"), of("a", "2"));
  for (const { name } of waiting.turn(0)) {
    expect(name).toBe("1");
    break;
  }
  expect(turn()).toEqual(["2"]);
});

it("forgets after a second that a team's changes took long", () => {
  const { waiting, turn } = order();
  waiting.took(of("a", "before"), 6, 0);
  expect(turn(1_001)).toEqual([]);
  waiting.push(of("a", "1"));
  waiting.push(of("b", "2"));
  expect(turn(1_002)).toEqual(["1", "2"]);
});

it("forgets it sooner where a team's changes are short again: the one that took long may have waited for the machine", () => {
  const { waiting, turn } = order();
  waiting.took(of("a", "before"), 6, 0);
  for (let i = 0; i < 4; i++) waiting.took(of("a", "short"), 0.5, 1);
  waiting.took(of("a", "neither"), 3, 2);
  for (let i = 0; i < 4; i++) waiting.took(of("a", "short"), 0.5, 3);
  waiting.push(of("a", "1"));
  waiting.push(of("a", "2"));
  expect([turn(4), turn(4)]).toEqual([["1"], ["2"]]);
  waiting.took(of("a", "2"), 0.5, 4);
  waiting.push(of("a", "3"));
  waiting.push(of("a", "4"));
  expect(turn(4)).toEqual(["3", "4"]);
});

it("returns everything that waits", () => {
  const { waiting } = order(of("b", "1"));
  waiting.took(of("a", "before"), 6, 0);
  waiting.push(of("a", "2"));
  expect([waiting.takeAll().map(({ name }) => name), waiting.length]).toEqual([["1", "2"], 0]);
});
