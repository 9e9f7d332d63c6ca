import { describe, expect, it } from "vitest";
import { Admission, type GivenUp, Intake } from "../../../src/platform/http/admission.ts";

const MIB = 1024 * 1024;
const KIB = 1024;

function arriving(admission: Admission, credential: string, team = credential) {
  const intake = new Intake(admission, { credential, team });
  const given: GivenUp[] = [];
  intake.onGivenUp = (why) => given.push(why);
  return { intake, given };
}

/** Fills shares until nothing more fits. */
function fill(admission: Admission): Intake[] {
  const held: Intake[] = [];
  for (let i = 0; ; i++) {
    const { intake, given } = arriving(admission, `filler ${i}`);
    intake.add(16 * MIB);
    if (given.length > 0) return held;
    held.push(intake);
  }
}

describe("room for bodies", () => {
  it("is there for small bodies however full the server is, and for large ones again once others have left", () => {
    const admission = new Admission();
    const held = fill(admission);
    expect(held.length).toBe(16);
    for (let i = 0; i < 1_000; i++) {
      const small = arriving(admission, `small ${i}`);
      small.intake.add(64 * KIB);
      expect(small.given).toEqual([]);
    }
    held[0]?.leave();
    const next = arriving(admission, "next");
    next.intake.add(16 * MIB);
    expect(next.given).toEqual([]);
  });

  it("is shared: a credential takes an eighth at most, a team half", () => {
    const admission = new Admission();
    const ofTeam = Array.from({ length: 8 }, (_, device) =>
      Array.from({ length: 5 }, () => {
        const one = arriving(admission, `device ${device}`, "team");
        one.intake.add(8 * MIB);
        return one.given.length === 0;
      }),
    );
    expect(ofTeam.map((device) => device.filter(Boolean).length)).toEqual([4, 4, 4, 4, 0, 0, 0, 0]);
    const other = arriving(admission, "elsewhere", "other team");
    other.intake.add(16 * MIB);
    expect(other.given).toEqual([]);
  });

  it("is there for a credential's only body, however large its cap was set", () => {
    const admission = new Admission();
    const one = arriving(admission, "device");
    for (let i = 0; i < 100; i++) one.intake.add(MIB);
    expect(one.given).toEqual([]);
    const second = arriving(admission, "device");
    second.intake.add(MIB);
    expect(second.given).toEqual(["no room"]);
  });

  it("is given back while other bodies of the same credential remain", () => {
    const admission = new Admission();
    arriving(admission, "device", "team").intake.add(MIB);
    for (let round = 0; round < 20; round++) {
      const next = arriving(admission, "device", "team");
      next.intake.add(16 * MIB);
      expect(next.given).toEqual([]);
      next.intake.leave();
    }
  });

  it("is given back to the last byte", () => {
    const admission = new Admission();
    for (let round = 0; round < 3; round++) {
      const held = fill(admission);
      expect(held.length).toBe(16);
      for (const intake of held) {
        intake.leave();
        intake.leave();
      }
    }
  });
});

it("waits for a body that has only begun, and then only for one that makes progress", () => {
  const { intake } = arriving(new Admission(), "slow");
  intake.add(100 * KIB);
  expect([intake.hasBrought(40 * KIB), intake.hasBrought(40 * KIB)]).toEqual([true, false]);
  intake.add(40 * KIB);
  expect(intake.hasBrought(40 * KIB)).toBe(true);
  intake.leave();
});

describe("turns of heavy bodies", () => {
  it("are limited in number, even when a body leaves without having had one", async () => {
    const admission = new Admission();
    const running = Array.from({ length: 4 }, (_, i) => arriving(admission, `running ${i}`).intake);
    // A body keeps its turn however often it asks: when it is inflated, and when it is read.
    for (const intake of [...running, ...running]) await intake.turn();
    let isNext = false;
    const next = arriving(admission, "next")
      .intake.turn()
      .then(() => {
        isNext = true;
      });
    arriving(admission, "light").intake.leave();
    await Promise.resolve();
    expect(isNext).toBe(false);
    running[0]?.leave();
    await next;
  });

  it("go to the team that has least under way, then to whoever came first", async () => {
    const admission = new Admission();
    const order: string[] = [];
    const enter = async (credential: string, team: string) => {
      const { intake } = arriving(admission, credential, team);
      await intake.turn();
      order.push(credential);
      return intake;
    };
    const flood = Array.from({ length: 12 }, (_, i) => enter(`flood ${i % 2}`, "flood"));
    const running = await Promise.all(flood.slice(0, 4));
    const [a, b, c] = [enter("a", "victim"), enter("b", "victim"), enter("c", "third")];
    running[0]?.leave();
    const first = await a;
    running[1]?.leave();
    await c;
    first.leave();
    await b;
    expect(order.slice(4)).toEqual(["a", "c", "b"]);
    // Eight of the flood still wait. The next in line comes once others have had their turns.
    running[2]?.leave();
    await flood[4];
    expect(order.slice(7)).toEqual(["flood 0"]);
  });
});
