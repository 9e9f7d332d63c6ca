/**
 * Admits bodies, and decides whose large body is read next: no sender may take the memory or the processor that the others need. Small
 * bodies are always admitted; what they can cost together is bounded by the number of connections.
 */

import { quotaKey } from "../../kit/address.ts";
import type { Payer } from "../../kit/fair-queue.ts";

/** Somebody without a credential, by the part of their address that one subscriber holds. */
export const addressSender = (ip: string): Payer => {
  const address = `address ${quotaKey(ip)}`;
  return { credential: address, team: address };
};

/** Bodies up to this many bytes are taken whatever else is going on. */
export const SMALL_BODY_BYTES = 64 * 1024;
const MIB = 1024 * 1024;
/** Bytes of larger bodies held at once: of all, of one team, of one credential. */
const MAX_BYTES = 256 * MIB;
const MAX_OF_TEAM = 128 * MIB;
const MAX_OF_CREDENTIAL = 32 * MIB;

/** Bodies that hold more than this once inflated are read in turn. */
export const HEAVY_BODY_BYTES = 256 * 1024;
/** Heavy bodies that are read, checked and stored at the same time; each yields to the others, and holds memory. */
const MIN_TURNS = 4;

/** How often the arriving bodies are looked at, and how much each must bring in between: 8 KiB a second. */
const WATCH_MS = 5_000;
const LEAST_BYTES = 40 * 1024;

/** Why a body is not waited for any longer. */
export type GivenUp = "no room" | "too slow";

interface Waiting {
  readonly intake: Intake;
  readonly go: () => void;
}

/** One for a listener; holds what is under way and nothing else. */
export class Admission {
  #total = 0;
  readonly #reserved = new Map<string, number>();
  readonly #arriving = new Set<Intake>();
  #watch: NodeJS.Timeout | undefined;
  readonly #running: Intake[] = [];
  readonly #turns: number;
  readonly #waiting: Waiting[] = [];

  /** @param threads that read bodies: none of them shall lack work because the others' bodies are being stored */
  constructor(threads = 0) {
    this.#turns = Math.max(MIN_TURNS, threads + 2);
  }

  /** Finds room for more bytes of a large body that is arriving. @returns whether there is */
  hold(intake: Intake, bytes: number): boolean {
    const [credentialKey, teamKey] = keysOf(intake.sender);
    const ofCredential = (this.#reserved.get(credentialKey) ?? 0) + bytes;
    const ofTeam = (this.#reserved.get(teamKey) ?? 0) + bytes;
    // A credential's only body fits whatever size the configuration allows it.
    const isOnly = ofCredential === intake.reservedBytes + bytes;
    if (ofCredential > MAX_OF_CREDENTIAL && !isOnly) return false;
    if (ofTeam > MAX_OF_TEAM || this.#total + bytes > MAX_BYTES) return false;
    this.#reserved.set(credentialKey, ofCredential).set(teamKey, ofTeam);
    this.#total += bytes;
    this.#arriving.add(intake);
    this.#watch ??= setInterval(() => this.#lookForSlow(), WATCH_MS).unref();
    return true;
  }

  /** All of a body has arrived, or no more of it will be waited for. */
  arrived(intake: Intake): void {
    if (!this.#arriving.delete(intake) || this.#arriving.size > 0) return;
    clearInterval(this.#watch);
    this.#watch = undefined;
  }

  /** Settles when it is a body's turn to be read. */
  turn(intake: Intake): Promise<void> {
    if (this.#running.length >= this.#turns) return new Promise((go) => this.#waiting.push({ intake, go }));
    this.#running.push(intake);
    return Promise.resolve();
  }

  /** Gives back all that a body took: its bytes and its turn. */
  leave(intake: Intake): void {
    this.arrived(intake);
    this.#total -= intake.reservedBytes;
    for (const key of keysOf(intake.sender)) {
      const left = (this.#reserved.get(key) ?? 0) - intake.reservedBytes;
      if (left > 0) this.#reserved.set(key, left);
      else this.#reserved.delete(key);
    }
    const place = this.#running.indexOf(intake);
    if (place === -1) return;
    this.#running.splice(place, 1);
    const [next] = this.#waiting.splice(this.#nextInLine(), 1);
    if (!next) return;
    this.#running.push(next.intake);
    next.go();
  }

  /** The index of the next waiting body: of the team with least under way, then of the credential with least, then the oldest. */
  #nextInLine(): number {
    const weights = this.#waiting.map(({ intake: { sender } }) => {
      const ofTeam = this.#running.filter(({ sender: other }) => other.team === sender.team).length;
      const ofCredential = this.#running.filter(({ sender: other }) => other.credential === sender.credential).length;
      return ofTeam * (this.#turns + 1) + ofCredential;
    });
    return weights.indexOf(Math.min(...weights));
  }

  #lookForSlow(): void {
    for (const intake of [...this.#arriving]) if (!intake.hasBrought(LEAST_BYTES)) intake.giveUp("too slow");
  }
}

const keysOf = ({ credential, team }: Payer) => [`credential ${credential}`, `team ${team}`] as const;

/** One body, from its first byte until its request is answered. */
export class Intake {
  readonly sender: Payer;
  /** Called when the body must not be waited for any longer. */
  onGivenUp: (why: GivenUp) => void = () => {};
  readonly #admission: Admission;
  #size = 0;
  #reserved = 0;
  #sizeWhenAsked: number | undefined;
  #turn: Promise<void> | undefined;

  constructor(admission: Admission, sender: Payer) {
    this.#admission = admission;
    this.sender = sender;
  }

  /** Bytes counted against the sender's share: none of a small body, all of a large one. */
  get reservedBytes(): number {
    return this.#reserved;
  }

  /** Counts bytes that arrived; gives the body up when there is no room for them. */
  add(bytes: number): void {
    this.#size += bytes;
    if (this.#size <= SMALL_BODY_BYTES) return;
    const more = this.#size - this.#reserved;
    if (this.#admission.hold(this, more)) this.#reserved += more;
    else this.giveUp("no room");
  }

  giveUp(why: GivenUp): void {
    this.#admission.arrived(this);
    this.onGivenUp(why);
  }

  /** Whether enough has come since this was asked last; it always has when it is asked first. */
  hasBrought(bytes: number): boolean {
    const before = this.#sizeWhenAsked;
    this.#sizeWhenAsked = this.#size;
    return before === undefined || this.#size - before >= bytes;
  }

  /** All of the body is there. */
  arrived(): void {
    this.#admission.arrived(this);
  }

  /** Settles when a heavy body may be read; its turn lasts until it leaves. */
  turn(): Promise<void> {
    this.#turn ??= this.#admission.turn(this);
    return this.#turn;
  }

  /** The request is answered, or its client is gone. */
  leave(): void {
    this.#admission.leave(this);
    this.#reserved = 0;
  }
}
