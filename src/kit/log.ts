import { fstatSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import { isatty } from "node:tty";

type LogLevel = "debug" | "info" | "warn" | "error";
export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** One event a line. Values are data, never parts of the message, so untrusted text cannot forge a line. */
export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
  /** Whether a level is written, to spare the work of composing a line nobody sees. */
  enabled(level: LogLevel): boolean;
}

/** Bytes a slow reader of the log may leave waiting before lines are dropped and counted. */
const PENDING_BYTES = 1024 * 1024;

/**
 * A sink on a file descriptor that never blocks and never throws: a full pipe drops lines (and says how many once it
 * drains), a closed one is ignored. Node writes to pipes synchronously, which would stop the server with its log's reader.
 */
function descriptorSink(fd: number): (line: string) => void {
  let isPipe = false;
  try {
    const stat = fstatSync(fd);
    isPipe = stat.isFIFO() || stat.isSocket();
  } catch {
    return () => {};
  }
  if (!isPipe) {
    return (line) => {
      try {
        writeSync(fd, line);
      } catch {
        // A full disk must not stop the service whose log it is.
      }
    };
  }
  const socket = new Socket({ fd, readable: false, writable: true });
  socket.on("error", () => {});
  socket.unref();
  let dropped = 0;
  return (line) => {
    if (socket.destroyed) return;
    if (socket.writableLength > PENDING_BYTES) {
      dropped++;
      return;
    }
    if (dropped > 0) {
      socket.write(`${JSON.stringify({ level: "warn", event: "log_lines_dropped", count: dropped })}\n`);
      dropped = 0;
    }
    socket.write(line);
  };
}

const COLOURS = { debug: "\u001b[2m", info: "\u001b[36m", warn: "\u001b[33m", error: "\u001b[31m" } as const;

/** Escapes C1 controls and line separators that JSON leaves alone but terminals and log readers act upon. */
function escapeControls(text: string): string {
  return text.replace(/[\u007f-\u009f\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function prettyLine(level: LogLevel, event: string, fields: LogFields, at: Date): string {
  const rest = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join(" ");
  const time = at.toISOString().slice(11, 19);
  return `${escapeControls(`${time} ${level.toUpperCase().padEnd(5)} ${event} ${rest}`).trimEnd()}\n`;
}

export interface LogOptions {
  readonly level: (typeof LOG_LEVELS)[number];
  /** Wall-clock milliseconds, for the `at` of each line. */
  readonly now: () => number;
  readonly write: (line: string) => void;
  /** Human layout with colour instead of JSON. */
  readonly pretty?: boolean;
}

/** A log that writes one JSON object a line: `{"at","level","event",…fields}`. */
export function createLog(options: LogOptions): Log {
  const threshold = LOG_LEVELS.indexOf(options.level);
  const emit = (level: LogLevel) => {
    const rank = LOG_LEVELS.indexOf(level);
    return (event: string, fields: LogFields = {}) => {
      if (rank < threshold) return;
      const at = new Date(options.now());
      options.write(
        options.pretty
          ? `${COLOURS[level]}${prettyLine(level, event, fields, at).trimEnd()}\u001b[0m\n`
          : `${escapeControls(JSON.stringify({ at: at.toISOString(), level, event, ...fields }))}\n`,
      );
    };
  };
  return {
    debug: emit("debug"),
    info: emit("info"),
    warn: emit("warn"),
    error: emit("error"),
    enabled: (level) => LOG_LEVELS.indexOf(level) >= threshold,
  };
}

/** The log of a running process: stderr, pretty on a terminal. */
export function processLog(level: (typeof LOG_LEVELS)[number], now: () => number): Log {
  return createLog({ level, now, write: descriptorSink(2), pretty: isatty(2) });
}

/** A log for what has nobody to read it. */
export const silentLog: Log = createLog({ level: "silent", now: () => 0, write: () => {} });
