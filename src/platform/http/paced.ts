import { IncomingMessage } from "node:http";

/** Bytes that a socket gives at once. By itself, libuv reads up to 32 such pieces from each socket before it looks at anything else. */
const PIECE_BYTES = 64 * 1024;
/** Pieces of bodies taken in one turn of the event loop: about a millisecond's work. */
const PIECES_OF_A_TURN = 16;
const BYTES_OF_A_TURN = PIECES_OF_A_TURN * PIECE_BYTES;

let taken = 0;
let isTurnDue = false;
const read: (() => void)[] = [];
const discarded: (() => void)[] = [];

/**
 * A request whose body waits once enough was read in this turn of the event loop, so that many senders at once hold up nobody. All
 * listeners share one measure, since they share the event loop.
 */
export class PacedRequest extends IncomingMessage {
  /** Called when somebody takes the body, before the first of it. */
  onTaken?: () => void;
  #isRead = false;
  #isDiscarded = false;

  /**
   * Reads and drops a body that nobody takes, a piece at a time and after the bodies that are taken; Node by itself would read it as fast
   * as it comes.
   */
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
    // The first call tells Node that somebody takes the body; otherwise Node drops it.
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

/** Lets as many sockets go on as fill a turn with one piece each: in the order of arrival, dropped bodies last. */
function nextTurn(): void {
  isTurnDue = false;
  taken = 0;
  const next = read.splice(0, PIECES_OF_A_TURN);
  for (const goOn of [...next, ...discarded.splice(0, PIECES_OF_A_TURN - next.length)]) goOn();
  if (read.length + discarded.length > 0) awaitTurn();
}
