import type { Socket } from "node:net";
import { badRequest, faultBody } from "./faults.ts";
import { SERVED_VERSIONS } from "./version.ts";

const STATUS_OF: Readonly<Record<string, readonly [status: number, phrase: string, text: string]>> = {
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large", "The request's headers are too large."],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout", "The request took too long to arrive."],
};

/** Answers what Node's parser refused before it became a request, in the canonical shape, and closes the connection. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, phrase, text] = STATUS_OF[error.code ?? ""] ?? [400, "Bad Request", badRequest.says];
  const body = JSON.stringify(faultBody(badRequest, { error: text }));
  socket.end(
    `HTTP/1.1 ${status} ${phrase}\r\nService-Api-Version: ${SERVED_VERSIONS.at(-1)}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n${body}`,
  );
}
