import type { Core } from "../../core.ts";
import type { AlikeUsages } from "./alike.ts";
import { bestOf, type Change } from "./count.ts";
import { witnessesOf } from "./dedupe.ts";
import type { Cells, Held } from "./rollup.ts";
import { rows } from "./rows.ts";
import { endOf, messageOf, requestOf } from "./usage-record.ts";

/**
 * Messages, each counted once by the best of its tellings. What is told by the id of a request alone is a telling of the message
 * that a link ties the request to, as long as there is one such message; otherwise the request stands for itself.
 */
export class Messages {
  readonly #core: Core;
  readonly #cells: Cells;
  readonly #alike: AlikeUsages;
  constructor(core: Core, cells: Cells, alike: AlikeUsages) {
    this.#core = core;
    this.#cells = cells;
    this.#alike = alike;
  }

  /** Told under the key of a message, or of a request alone. */
  change(teamId: string, key: Buffer, changes: readonly Change[]): void {
    const named = messageOf(key);
    const message = named ?? this.#messageOf(teamId, key);
    const all = message ? this.#underMessage(teamId, message) : [];
    const own = named ? all.filter((one) => one.key.equals(key)) : this.#cells.candidates(teamId, key);
    const next = this.#cells.changed(own, key, changes);
    if (!this.#cells.store(teamId, own, next)) return;
    const others = named ? all.filter((one) => !one.key.equals(key)) : all;
    const whole = (these: readonly Held[]) => {
      if (!message) return these;
      return named
        ? this.#withRequests(teamId, message, [...others, ...these])
        : this.#withRequests(teamId, message, others, { request: key, told: these });
    };
    this.#recount(teamId, [whole(own)], [whole(next)]);
  }

  /** That a request is a message's is told, or told no more. */
  link(teamId: string, key: Buffer, changes: readonly Change[]): void {
    const held = this.#cells.candidates(teamId, key);
    const next = this.#cells.changed(held, key, changes);
    const request = requestOf(key) as Buffer;
    const told = this.#cells.candidates(teamId, request);
    if (told.length === 0 || (held.length === 0) === (next.length === 0)) {
      this.#cells.store(teamId, held, next);
      return;
    }
    const homes = new Map<string, Buffer>();
    const see = () => {
      const message = this.#messageOf(teamId, request);
      if (message) homes.set(message.toString("latin1"), message);
      return message;
    };
    const before = see();
    this.#cells.store(teamId, held, next);
    const after = see();
    const as = (home: Buffer | undefined) => [
      ...[...homes.values()].map((message) => {
        const under = this.#underMessage(teamId, message);
        return this.#withRequests(teamId, message, under, { request, told: home?.equals(message) ? told : [] });
      }),
      ...(home ? [] : [told]),
    ];
    this.#recount(teamId, as(before), as(after));
  }

  /** The one message that a request is tied to; undefined where there is none, or are several. */
  #messageOf(teamId: string, request: Buffer): Buffer | undefined {
    const [link, second] = rows(this.#core.store).twoLinks.all(teamId, request, endOf(request));
    return link && !second ? messageOf(link) : undefined;
  }

  #underMessage(teamId: string, message: Buffer): Held[] {
    return rows(this.#core.store)
      .within.all(teamId, message, endOf(message))
      .map((row) => this.#cells.read(row));
  }

  /** Tellings of a message with those of its requests. @param known what is to be taken as told of one of them */
  #withRequests(
    teamId: string,
    message: Buffer,
    under: readonly Held[],
    known?: { readonly request: Buffer; readonly told: readonly Held[] },
  ): Held[] {
    const requests = new Map<string, Buffer>();
    for (const { key } of under) {
      const request = requestOf(key);
      if (request) requests.set(request.toString("latin1"), request);
    }
    return [
      ...under,
      ...[...requests.values()].flatMap((request) => {
        if (known?.request.equals(request)) return known.told;
        return this.#messageOf(teamId, request)?.equals(message) ? this.#cells.candidates(teamId, request) : [];
      }),
    ];
  }

  /** Each list is what is told of one message. */
  #recount(teamId: string, before: readonly (readonly Held[])[], after: readonly (readonly Held[])[]): void {
    for (const [messages, times] of [
      [before, -1],
      [after, 1],
    ] as const)
      for (const told of messages) {
        const counted = bestOf(told);
        if (counted?.place) this.#cells.add(counted.place, counted.figures, times);
        for (const witness of witnessesOf(told, counted)) this.#alike.witness(teamId, witness, times);
      }
  }
}
