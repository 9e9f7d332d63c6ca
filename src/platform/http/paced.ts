import { IncomingMessage } from "node:http";

/** What a socket gives at once. Left alone, libuv reads up to 32 such pieces from each socket before it looks at anything else. */
const PIECE_BYTES = 64 * 1024;
/** Pieces of bodies taken in one turn of the event loop: about a millisecond's work. */
const PIECES_OF_A_TURN = 16;
const BYTES_OF_A_TURN = PIECES_OF_A_TURN * PIECE_BYTES;

let taken = 0;
let isTurnDue = false;
const read: (() => void)[] = [];
const discarded: (() => void)[] = [];

/**
 * A request whose body waits once enough was read in this turn, so that many who send at the same time hold up nobody. All share one
 * measure, whatever listener they came by, since all share the event loop.
 */
export class PacedRequest extends IncomingMessage {
  /** Called when somebody takes the body, before the first of it. */
  onTaken?: () => void;
  #isRead = false;
  #isDiscarded = false;

  /** Takes what nobody reads a piece at a time, after the bodies that somebody does; Node by itself would take it as fast as it comes. */
  discard(): void {
    this.#isDiscarded = true;
    this.resume();
  }

  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    const hasRoom = super.push(chunk, encoding);
    if (!Buffer.isBuffer(chunk)) return hasRoom;
    taken += chunk.length;
    awaitTurn();
    // The parser stops the socket; `_read` lets it go on.
    return hasRoom && this.#goesOn;
  }

  override _read(size: number): void {
    if (!this.#isRead && !this.#isDiscarded) this.onTaken?.();
    // The first time tells Node that somebody takes the body, or it throws away what comes.
    if (!this.#isRead || this.#goesOn) super._read(size);
    else (this.#isDiscarded ? discarded : read).push(() => super._read(size));
    this.#isRead = true;
  }

  get #goesOn(): boolean {
    return !this.#isDiscarded && taken < BYTES_OF_A_TURN;
  }
}

function awaitTurn(): void {
  if (!isTurnDue) setImmediate(nextTurn);
  isTurnDue = true;
}

/** Lets as many sockets go on as fill a turn with one piece each: first come first served, those whose body is thrown away last. */
function nextTurn(): void {
  isTurnDue = false;
  taken = 0;
  const next = read.splice(0, PIECES_OF_A_TURN);
  for (const goOn of [...next, ...discarded.splice(0, PIECES_OF_A_TURN - next.length)]) goOn();
  if (read.length + discarded.length > 0) awaitTurn();
}
