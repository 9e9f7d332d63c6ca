import { IncomingMessage } from "node:http";

/** What a socket gives at once. Left alone, libuv reads up to 32 such pieces from each socket before it looks at anything else. */
const PIECE_BYTES = 64 * 1024;
/** Bytes of bodies taken in one turn of the event loop: about a millisecond's work. */
const BYTES_OF_A_TURN = 16 * PIECE_BYTES;

let taken = 0;
let isTurnDue = false;
const resting: (() => void)[] = [];

/**
 * A request whose body waits once enough was read in this turn, so that many who send at the same time hold up nobody. All share one
 * measure, whatever listener they came by, since all share the event loop.
 */
export class PacedRequest extends IncomingMessage {
  #isRead = false;

  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    const hasRoom = super.push(chunk, encoding);
    if (!Buffer.isBuffer(chunk)) return hasRoom;
    taken += chunk.length;
    awaitTurn();
    // The parser stops the socket; `_read` lets it go on.
    return hasRoom && taken < BYTES_OF_A_TURN;
  }

  override _read(size: number): void {
    // The first time tells Node that somebody takes the body, or it throws away what comes, as fast as it comes.
    if (!this.#isRead || taken < BYTES_OF_A_TURN) super._read(size);
    else resting.push(() => super._read(size));
    this.#isRead = true;
  }
}

function awaitTurn(): void {
  if (!isTurnDue) setImmediate(nextTurn);
  isTurnDue = true;
}

/** As many go on as can fill a turn by one piece each; those that stay stand before those that come. */
function nextTurn(): void {
  isTurnDue = false;
  taken = 0;
  for (const goOn of resting.splice(0, BYTES_OF_A_TURN / PIECE_BYTES)) goOn();
  if (resting.length > 0) awaitTurn();
}
