import { connect, type Socket } from "node:net";

/** Where a server answers. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

const NOTHING = Buffer.alloc(0);
const HEAD_END = "\r\n\r\n";

/**
 * One keep-alive connection with at most one request under way. It reads just enough of HTTP/1.1 for the servers measured
 * here, because a full client would cost more than they do and become what is measured.
 */
export class Wire {
  readonly #socket: Socket;
  #held: Buffer = NOTHING;
  #done: ((answer: Answer) => void) | undefined;
  #failed: ((error: Error) => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
    socket.on("error", (error) => this.#failed?.(error));
    socket.on("close", () => this.#failed?.(new Error("the server closed a connection with a request under way")));
  }

  static open({ host, port }: Address): Promise<Wire> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port, noDelay: true });
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.off("error", reject);
        resolve(new Wire(socket));
      });
    });
  }

  /** Sends a whole request. */
  send(request: Buffer, done: (answer: Answer) => void, failed: (error: Error) => void): void {
    this.#done = done;
    this.#failed = failed;
    this.#socket.write(request);
  }

  ask(request: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => this.send(request, resolve, reject));
  }

  close(): void {
    this.#failed = undefined;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const headEnd = bytes.indexOf(HEAD_END);
    if (headEnd === -1) {
      this.#held = bytes;
      return;
    }
    const head = bytes.toString("latin1", 0, headEnd);
    const bodyStart = headEnd + HEAD_END.length;
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
    if (length === undefined) {
      this.#failed?.(new Error(`a reply without a length: ${head}`));
      return;
    }
    const end = bodyStart + Number(length);
    if (bytes.length < end) {
      this.#held = bytes;
      return;
    }
    this.#held = NOTHING;
    this.#failed = undefined;
    this.#done?.({ status: Number(head.slice(9, 12)), body: bytes.subarray(bodyStart, end) });
  }
}

export interface RequestParts {
  readonly method?: "GET" | "POST";
  readonly path: string;
  readonly token?: string;
  readonly body?: Buffer;
  /** Media type of the body; JSON by default. */
  readonly type?: string;
  readonly gzip?: boolean;
}

/** The bytes of a request, with the headers that a client of the API sends. */
export function requestBytes({
  method = "GET",
  path,
  token,
  body,
  type = "application/json",
  gzip,
}: RequestParts): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, "Host: 127.0.0.1", "Accept: application/json", "User-Agent: bench"];
  if (token !== undefined) lines.push(`Authorization: Bearer ${token}`);
  if (body) lines.push(`Content-Type: ${type}`, `Content-Length: ${body.length}`);
  if (gzip) lines.push("Content-Encoding: gzip");
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}${HEAD_END}`), body ?? NOTHING]);
}

/** @throws Error with the reply's text when it is not a success */
export function requireSuccess({ status, body }: Answer): void {
  if (status !== 200) throw new Error(`a request was answered with ${status}: ${body.toString().slice(0, 300)}`);
}

/** What came of driving a server with many connections. */
export interface Load {
  /** Requests answered a second while every connection was busy. */
  readonly rate: number;
  /** Requests answered in all, those after the measured time included. */
  readonly answered: number;
  /** Milliseconds from sending a request to its whole reply, ascending. */
  readonly latencies: Float64Array;
  /** Part of one core that this client took. */
  readonly clientShare: number;
}

/**
 * Keeps connections busy, each with one request at a time. The time measured ends when the first connection has nothing
 * more to send, so that stragglers do not dilute the rate.
 * @param next the request of a connection's turn, undefined at its end
 */
export async function drive(
  address: Address,
  connections: number,
  next: (connection: number, turn: number) => Buffer | undefined,
): Promise<Load> {
  const wires = await Promise.all(Array.from({ length: connections }, () => Wire.open(address)));
  const latencies: number[] = [];
  let answered = 0;
  let finished = 0;
  let end: { seconds: number; cpu: NodeJS.CpuUsage; count: number } | undefined;
  const cpu = process.cpuUsage();
  const began = performance.now();
  await new Promise<void>((resolve, reject) => {
    const turn = (wire: Wire, connection: number, count: number): void => {
      const request = next(connection, count);
      if (request === undefined) {
        end ??= {
          seconds: (performance.now() - began) / 1000,
          cpu: process.cpuUsage(cpu),
          count: answered,
        };
        if (++finished === wires.length) resolve();
        return;
      }
      const sent = performance.now();
      wire.send(
        request,
        (answer) => {
          answered++;
          if (!end) latencies.push(performance.now() - sent);
          if (answer.status === 200) {
            turn(wire, connection, count + 1);
            return;
          }
          try {
            requireSuccess(answer);
          } catch (error) {
            reject(error);
          }
        },
        reject,
      );
    };
    for (const [i, wire] of wires.entries()) turn(wire, i, 0);
  }).finally(() => {
    for (const wire of wires) wire.close();
  });
  if (!end) throw new Error("nothing was measured");
  return {
    rate: end.count / end.seconds,
    answered,
    latencies: Float64Array.from(latencies).sort(),
    clientShare: (end.cpu.user + end.cpu.system) / 1e6 / end.seconds,
  };
}
