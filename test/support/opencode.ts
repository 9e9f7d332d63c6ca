import { mkdirSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { onTestFinished } from "vitest";
import type { TestAgent } from "./capture.ts";

/** opencode's database in a folder of the home folder. @returns what says something in a session of its own, named by what is said */
export function startOpencode(a: TestAgent, below = ".local/share/opencode"): (text: string) => void {
  const folder = join(a.home, below);
  mkdirSync(folder, { recursive: true });
  const db = new Sqlite(join(folder, "opencode.db"));
  onTestFinished(() => void db.close());
  db.exec(`CREATE TABLE session (id, directory, title, version, parent_id, time_created, time_updated);
    CREATE TABLE message (id, session_id, time_created, time_updated, data);
    CREATE TABLE part (id, message_id, session_id, time_created, time_updated, data)`);
  return (text) => {
    const now = a.server.clock.now();
    db.prepare("INSERT INTO session VALUES (?, ?, ?, '1.18', NULL, ?, ?)").run(
      ...[text, join(a.home, "shop"), text, now, now],
    );
    db.prepare("INSERT INTO message VALUES (?, ?, ?, ?, ?)").run(
      ...[`m-${text}`, text, now, now, JSON.stringify({ role: "user", time: { created: now } })],
    );
    db.prepare("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)").run(
      ...[`p-${text}`, `m-${text}`, text, now, now, JSON.stringify({ type: "text", text })],
    );
  };
}
