import type { ServerResponse } from "node:http";
import { setImmediate, setTimeout } from "node:timers/promises";

/** What happens to a reply on its way, whether the endpoint's or a fault: it arrives late, in part, or not at all. */
export interface Wire {
  /** Milliseconds of real time before the reply's first byte. */
  readonly delayMs?: number | undefined;
  /** The connection is reset instead of a reply. */
  readonly drop?: boolean | undefined;
  /** The connection ends after so many bytes of the body, although the head announced the whole length. */
  readonly truncate?: number | undefined;
}

const replyOf = (request: Request): ServerResponse | undefined =>
  (request as { runtime?: { node?: { res?: ServerResponse } } }).runtime?.node?.res;

/** Waits as long as a reply is to be late. */
export const delay = ({ delayMs = 0 }: Wire): Promise<void> => setTimeout(delayMs);

/** A reply as it goes out: whole, cut short, or none because the connection is reset under it. */
export async function onWire({ drop, truncate }: Wire, request: Request, response: Response): Promise<Response> {
  const reply = replyOf(request);
  if (drop) {
    reply?.socket?.resetAndDestroy();
    return response;
  }
  if (truncate === undefined) return response;
  const bytes = Buffer.from(await response.arrayBuffer());
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  headers.set("content-length", `${bytes.length}`);
  const body = truncate < bytes.length ? cut(bytes.subarray(0, truncate), reply) : bytes;
  return new Response(body, { status, statusText, headers });
}

/** A body that breaks off after some bytes, once they are on their way. */
function cut(bytes: Buffer, reply: ServerResponse | undefined): ReadableStream<Uint8Array> {
  let given = false;
  return new ReadableStream(
    {
      async pull(controller) {
        if (!given && bytes.length > 0) {
          given = true;
          controller.enqueue(bytes);
          return;
        }
        // Without a byte of the body the head is still to be sent.
        reply?.flushHeaders();
        await setImmediate();
        reply?.socket?.end();
        reply?.destroy();
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}
