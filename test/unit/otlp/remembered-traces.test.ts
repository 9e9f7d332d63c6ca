import { expect, it } from "vitest";
import { type Place, placesOf, rememberPlaces } from "../../../src/record/otlp/remembered-traces.ts";
import { startInstance } from "../../support/instance.ts";

const placesFrom = (first: number, count: number): Place[] =>
  Array.from({ length: count }, (_, i) => [`t${first + i}`, `s${first + i}`] as const);

it("remembers the newest traces, and a busy device displaces only its own", async () => {
  const { core } = (await startInstance()).instance;
  rememberPlaces(core, "calm", [["t", "s"]]);
  rememberPlaces(core, "busy", placesFrom(0, 25_000));
  rememberPlaces(core, "busy", placesFrom(25_000, 5));
  expect(placesOf(core, "calm", ["t", "t24999"])).toEqual([["t", "s"]]);
  expect(placesOf(core, "busy", ["t", "t0", "t15005", "t15006", "t25004"])).toEqual([
    ["t15006", "s15006"],
    ["t25004", "s25004"],
  ]);
  // A trace that is named again counts as new.
  rememberPlaces(core, "busy", [["t15006", "other"]]);
  rememberPlaces(core, "busy", placesFrom(30_000, 1));
  expect(placesOf(core, "busy", ["t15006", "t15007"])).toEqual([["t15006", "other"]]);
});

it("is bounded although very many devices name traces", async () => {
  const { core } = (await startInstance()).instance;
  const devices = Array.from({ length: 10_010 }, (_, i) => `d${i}`);
  for (const device of devices) rememberPlaces(core, device, [["t", device]]);
  expect(devices.filter((device) => placesOf(core, device, ["t"]).length > 0)).toEqual(devices.slice(10));
});
